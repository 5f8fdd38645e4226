import { useLayoutEffect, useRef } from 'react'

// Set by Back and Forward, until the page that they lead to is shown.
let isTraversing = false

export function watchTraversal(): void {
  window.addEventListener('popstate', () => {
    isTraversing = true
  })
}

/**
 * Moves the focus to a new page, so that screen readers notice the navigation. Back returns to where the reader was: the browser
 * restores the scroll position, and the link that was followed has the focus again.
 */
export function useFocusOnNavigation(location: string) {
  const main = useRef<HTMLElement>(null)
  const previous = useRef(location)
  useLayoutEffect(() => {
    const from = previous.current
    previous.current = location
    const isBack = isTraversing
    isTraversing = false
    if (from === location) return
    const followed = isBack ? linkTo(main.current, from) : undefined
    const target = followed ?? main.current
    target?.focus({ preventScroll: true })
    if (!isBack) window.scrollTo(0, 0)
  }, [location])
  return main
}

/** The link on the page that leads to a path, with whatever query. */
function linkTo(page: HTMLElement | null, path: string): HTMLAnchorElement | undefined {
  const links = page?.querySelectorAll<HTMLAnchorElement>('a[href]') ?? []
  return [...links].find(({ origin, pathname }) => origin === window.location.origin && pathname === path)
}
