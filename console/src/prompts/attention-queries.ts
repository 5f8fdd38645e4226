import type { Alert, ShiftQuery } from '@promptledger/client'
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { usageQuery } from '../usage/usage-query.ts'

const refreshMs = 60_000
const dayMs = 86_400_000
const recentDays = 14
const maxRegressions = 5
const maxShifts = 3

const worstRegressions = queryOptions({
  queryKey: ['regressions', 'attention'],
  queryFn: async ({ signal }) =>
    await ledger.regressions.list({ state: 'open', sort: 'difference', limit: maxRegressions }, { signal }),
  refetchInterval: refreshMs,
})

const recentShifts = queryOptions({
  queryKey: ['shifts', 'attention'],
  queryFn: async ({ signal }) => await ledger.shifts.list(shiftsOf(), { signal }),
  refetchInterval: refreshMs,
})

function shiftsOf(): ShiftQuery {
  // By when it was found: an import or a late vote can show one that is older.
  const foundSince = new Date(Date.now() - recentDays * dayMs).toISOString()
  return { cause: 'unexplained', state: 'open', found_since: foundSince, limit: maxShifts }
}

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

/** The open regressions with the largest losses. */
export const useWorstRegressions = () => useQuery(worstRegressions)

/** The open regressions that this person takes care of, the largest loss first. */
export const useMyRegressions = (email: string | null) =>
  useQuery({
    queryKey: ['regressions', 'attention', email],
    queryFn: async ({ signal }) => {
      const query = { state: 'open', sort: 'difference', owner: email ?? '', limit: maxRegressions } as const
      return await ledger.regressions.list(query, { signal })
    },
    refetchInterval: refreshMs,
    enabled: email !== null,
  })

/** The open unexplained shifts that were found in the last 14 days. */
export const useRecentShifts = () => useQuery(recentShifts)

/** Those of them that this person takes care of. */
export const useMyShifts = (email: string | null) =>
  useQuery({
    queryKey: ['shifts', 'attention', email],
    queryFn: async ({ signal }) => await ledger.shifts.list({ ...shiftsOf(), owner: email ?? '' }, { signal }),
    refetchInterval: refreshMs,
    enabled: email !== null,
  })

/** The first 100 repositories. Only an admin key can list them. */
export const useFirstRepositories = (isAdmin: boolean) => useQuery({ ...firstRepositories, enabled: isAdmin })

/** Alerts that no longer arrive: their receiver is gone, or the last message was given up. */
export const useFailingAlerts = (isAdmin: boolean) => useQuery({ ...failingAlerts, enabled: isAdmin })

/** Requests what may need attention before the page that shows it is rendered. */
export function prefetchAttention(queryClient: QueryClient, isAdmin: boolean): void {
  void queryClient.prefetchQuery(usageQuery)
  void queryClient.prefetchQuery(worstRegressions)
  void queryClient.prefetchQuery(recentShifts)
  if (!isAdmin) return
  void queryClient.prefetchQuery(firstRepositories)
  void queryClient.prefetchQuery(failingAlerts)
}

function isSilent({ state, last_delivery: last }: Alert): boolean {
  return state === 'disabled' || last?.state === 'failed'
}
