import { useCallback } from 'react'
import { useSearchParams } from 'wouter'

/** The URL's query parameters, and a setter that changes some of them; null removes one. */
export function useUrlParams(): [URLSearchParams, (changes: Record<string, string | null>) => void] {
  const [params, setSearchParams] = useSearchParams()
  const setParams = useCallback(
    (changes: Record<string, string | null>) => {
      setSearchParams(
        (current) => {
          const next = new URLSearchParams(current)
          for (const [name, value] of Object.entries(changes)) {
            if (value === null || value === '') next.delete(name)
            else next.set(name, value)
          }
          return next
        },
        { replace: true },
      )
    },
    [setSearchParams],
  )
  return [params, setParams]
}

/** The page number in the URL. Anything but a positive integer counts as page 1. */
export function pageFrom(params: URLSearchParams): number {
  const page = Number(params.get('page') ?? 1)
  return Number.isInteger(page) && page >= 1 ? page : 1
}
