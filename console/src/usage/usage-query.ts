import { queryOptions, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

const refreshMs = 60_000

/** The usage of the organisation, refreshed while the page is visible. */
export const usageQuery = queryOptions({
  queryKey: ['usage'],
  queryFn: ({ signal }) => ledger.usage.get({ signal }),
  refetchInterval: refreshMs,
})

export function useUsage() {
  return useQuery(usageQuery)
}
