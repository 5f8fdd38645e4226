import type { Alert } from '@promptledger/client'
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { usageQuery } from '../usage/usage-query.ts'

const refreshMs = 60_000
const dayMs = 86_400_000
const recentDays = 14
const maxRegressions = 5
const maxShifts = 3

/** The open regressions with the largest losses, of one owner or of all. */
const worstRegressions = (owner?: string) =>
  queryOptions({
    queryKey: ['regressions', 'attention', owner],
    queryFn: async ({ signal }) => {
      const query = { state: 'open', sort: 'difference', owner, limit: maxRegressions } as const
      return await ledger.regressions.list(query, { signal })
    },
    refetchInterval: refreshMs,
  })

/** The open unexplained shifts that were found in the last 14 days, of one owner or of all. */
const recentShifts = (owner?: string) =>
  queryOptions({
    queryKey: ['shifts', 'attention', owner],
    queryFn: async ({ signal }) => {
      // By when it was found: an import or a late vote can show one that is older.
      const foundSince = new Date(Date.now() - recentDays * dayMs).toISOString()
      const query = { cause: 'unexplained', state: 'open', found_since: foundSince, owner, limit: maxShifts } as const
      return await ledger.shifts.list(query, { signal })
    },
    refetchInterval: refreshMs,
  })

const firstRepositories = queryOptions({
  queryKey: ['repositories', 'first'],
  queryFn: async ({ signal }) => (await ledger.repositories.list({ limit: 100 }, { signal })).data,
  refetchInterval: refreshMs,
})

const failingAlerts = queryOptions({
  queryKey: ['alerts', 'attention'],
  queryFn: async ({ signal }) => (await ledger.alerts.list({ limit: 100 }, { signal })).data.filter(isSilent),
  refetchInterval: refreshMs,
})

export const useWorstRegressions = () => useQuery(worstRegressions())

/** Those of them that this person takes care of. */
export const useMyRegressions = (email: string | null) =>
  useQuery({ ...worstRegressions(email ?? ''), enabled: email !== null })

export const useRecentShifts = () => useQuery(recentShifts())

/** Those of them that this person takes care of. */
export const useMyShifts = (email: string | null) => useQuery({ ...recentShifts(email ?? ''), enabled: email !== null })

/** The first 100 repositories. Only an admin key can list them. */
export const useFirstRepositories = (isAdmin: boolean) => useQuery({ ...firstRepositories, enabled: isAdmin })

/** Alerts that no longer arrive: their receiver is gone, or the last message was given up. */
export const useFailingAlerts = (isAdmin: boolean) => useQuery({ ...failingAlerts, enabled: isAdmin })

/** Requests what may need attention before the page that shows it is rendered. */
export function prefetchAttention(queryClient: QueryClient, isAdmin: boolean): void {
  void queryClient.prefetchQuery(usageQuery)
  void queryClient.prefetchQuery(worstRegressions())
  void queryClient.prefetchQuery(recentShifts())
  if (!isAdmin) return
  void queryClient.prefetchQuery(firstRepositories)
  void queryClient.prefetchQuery(failingAlerts)
}

function isSilent({ state, last_delivery: last }: Alert): boolean {
  return state === 'disabled' || last?.state === 'failed'
}
