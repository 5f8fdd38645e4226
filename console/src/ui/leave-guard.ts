import { useEffect, useRef } from 'react'

interface Guard {
  href: string
  onBack: () => void
}

let active: Guard | null = null

/** Starts to listen for Back. Called before the router does, so that it never sees a step that is taken back. */
export function watchHistory(): void {
  window.addEventListener('popstate', (event) => {
    if (active === null) return
    event.stopImmediatePropagation()
    window.history.pushState(null, '', active.href)
    active.onBack()
  })
}

/**
 * While active, leaving needs a confirmation: the browser asks before it closes or reloads the page, and Back stays on the page and
 * calls `onBack`.
 */
export function useLeaveGuard(isActive: boolean, onBack: () => void): void {
  const latest = useRef(onBack)
  useEffect(() => {
    latest.current = onBack
  })
  useEffect(() => {
    if (!isActive) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    const guard = { href: window.location.href, onBack: () => latest.current() }
    active = guard
    window.addEventListener('beforeunload', ask)
    return () => {
      if (active === guard) active = null
      window.removeEventListener('beforeunload', ask)
    }
  }, [isActive])
}
