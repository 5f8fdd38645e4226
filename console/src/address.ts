import { useCallback } from 'react'
import { useSearchParams } from 'wouter'

/** What the address says after the question mark, and a way to change parts of it: null takes one out. */
export function useAddress(): [URLSearchParams, (changes: Record<string, string | null>) => void] {
  const [parameters, setParameters] = useSearchParams()
  const change = useCallback(
    (changes: Record<string, string | null>) => {
      setParameters(
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
    [setParameters],
  )
  return [parameters, change]
}

/** The number of the page in the address. */
export function pageOf(parameters: URLSearchParams): number {
  const page = Number(parameters.get('page') ?? 1)
  return Number.isInteger(page) && page >= 1 ? page : 1
}
