import type { Action } from '@promptledger/client'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import type { TimeRange } from './time-range.ts'

/** A chart of more changes shows how many there are, and loads them once it is zoomed in. */
export const maxLoadedChanges = 60
// Versions that went live before the time shown. There are more than one after a rollback.
const maxEarlierVersions = 5

const live: Action[] = ['deployed', 'pr_merged']

/** Signals per interval, split at changes. */
export function useSummary(id: string, { from, to }: TimeRange) {
  return useQuery({
    queryKey: ['summary', id, from, to],
    queryFn: ({ signal }) => ledger.signals.summary(id, { from, to, interval: 'auto', split: 'changes' }, { signal }),
    placeholderData: keepPreviousData,
  })
}

/** The changes that were live in a time, with their figures. `liveIds` are the entries that the summary names. */
export function useLiveChanges(id: string, { from, to }: TimeRange, liveIds: number[], isEnabled: boolean) {
  return useQuery({
    queryKey: ['changes', id, from, to, liveIds.join()],
    enabled: isEnabled,
    queryFn: async ({ signal }) => {
      const query = { since: from, until: to, action: live, limit: 100 }
      const { data } = await ledger.timeline.list(id, query, { signal })
      const known = new Set(data.map(({ entry }) => entry.id))
      const earlier = liveIds.filter((entryId) => !known.has(entryId)).slice(0, maxEarlierVersions)
      return [
        ...data,
        ...(await Promise.all(earlier.map((entryId) => ledger.timeline.get(id, entryId, {}, { signal })))),
      ]
    },
    placeholderData: keepPreviousData,
  })
}

/** The timeline, loaded page by page, with one row for a pull request. Without actions, it has the entries of all actions. */
export function useTimeline(id: string, { from, to }: TimeRange, actions: Action[]) {
  return useInfiniteQuery({
    queryKey: ['timeline', id, from, to, actions.join()],
    initialPageParam: 1,
    queryFn: async ({ signal, pageParam: page }) => {
      const action = actions.length === 0 ? undefined : actions
      return await ledger.timeline.list(id, { since: from, until: to, action, pulls: 'outcome', page }, { signal })
    },
    getNextPageParam: ({ pagination }) =>
      pagination.current_page < pagination.total_pages ? pagination.current_page + 1 : undefined,
    placeholderData: keepPreviousData,
  })
}
