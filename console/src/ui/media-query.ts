import { useCallback, useSyncExternalStore } from 'react'

/** Whether the window matches a media query now. */
export function useMediaQuery(query: string): boolean {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const list = window.matchMedia(query)
      list.addEventListener('change', onChange)
      return () => list.removeEventListener('change', onChange)
    },
    [query],
  )
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches)
}

/** Where the style sheets switch to one column. */
export function useIsPhone(): boolean {
  return useMediaQuery('(max-width: 720px)')
}
