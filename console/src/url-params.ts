import { useCallback, useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'
import { isShared } from './shared/token.ts'

interface SetParamsOptions {
  /** For typing: each key would otherwise be a step of the history. */
  replace?: boolean
}

/** Changes some query parameters; null or an empty text removes one. */
export type SetParams = (changes: Record<string, string | null>, options?: SetParamsOptions) => void

/** The URL's query parameters, and a setter. A change is a new step of the history, so that Back undoes it. */
export function useUrlParams(): [URLSearchParams, SetParams] {
  const search = useSearch()
  const [, navigate] = useLocation()
  const params = useMemo(() => new URLSearchParams(search), [search])
  const setParams: SetParams = useCallback(
    (changes, { replace = false } = {}) => {
      // From the window, not from the last render: two changes in one event add up.
      const { pathname, search: current } = window.location
      const next = new URLSearchParams(current)
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === '') next.delete(name)
        else next.set(name, value)
      }
      // The same view again is no step of its own.
      if (next.toString() === new URLSearchParams(current).toString()) return
      // The token of a share link.
      const end = isShared ? window.location.hash : ''
      navigate(`${pathname}${next.size === 0 ? '' : `?${next}`}${end}`, { replace })
    },
    [navigate],
  )
  return [params, setParams]
}

/** The page number in the URL. Anything but a positive integer counts as page 1. */
export function pageFrom(params: URLSearchParams): number {
  const page = Number(params.get('page') ?? 1)
  return Number.isInteger(page) && page >= 1 ? page : 1
}
