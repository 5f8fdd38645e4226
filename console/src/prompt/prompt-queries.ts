import type { Action, TimelineEntry } from '@promptledger/client'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { intervalFor, type TimeRange } from './time-range.ts'

// More markers than this would cover each other.
const maxMarkers = 300

export function useSummary(id: string, range: TimeRange) {
  const { from, to } = range
  return useQuery({
    queryKey: ['summary', id, from, to],
    queryFn: ({ signal }) => ledger.signals.summary(id, { from, to, interval: intervalFor(range) }, { signal }),
    placeholderData: keepPreviousData,
  })
}

/** The changes that went live, newest first, for the markers of the chart. */
export function useLiveChanges(id: string, { from, to }: TimeRange) {
  return useQuery({
    queryKey: ['changes', id, from, to],
    queryFn: async ({ signal }) => {
      const query = { since: from, until: to, action: ['deployed', 'pr_merged'] satisfies Action[] }
      const changes: TimelineEntry[] = []
      for await (const item of ledger.timeline.list(id, query, { signal })) {
        changes.push(item)
        if (changes.length >= maxMarkers) break
      }
      return changes
    },
    placeholderData: keepPreviousData,
  })
}

/** The timeline, loaded page by page. Without actions, it has the entries of all actions. */
export function useTimeline(id: string, { from, to }: TimeRange, actions: Action[]) {
  return useInfiniteQuery({
    queryKey: ['timeline', id, from, to, actions.join()],
    initialPageParam: 1,
    queryFn: async ({ signal, pageParam: page }) => {
      const action = actions.length === 0 ? undefined : actions
      return await ledger.timeline.list(id, { since: from, until: to, action, page }, { signal })
    },
    getNextPageParam: ({ pagination }) =>
      pagination.current_page < pagination.total_pages ? pagination.current_page + 1 : undefined,
    placeholderData: keepPreviousData,
  })
}
