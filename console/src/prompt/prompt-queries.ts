import type { Action, Summary, TimelineEntry } from '@promptledger/client'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { segmentLinesOf } from './chart-segments.ts'
import { dividedLives, type ShiftBand, tallyOf } from './chart-shifts.ts'
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

/** The signals of versions before and after each shift that happened while they were live. There are few of these. */
export function useDividedLives(id: string, changes: TimelineEntry[], bands: ShiftBand[], now: number) {
  const parts = dividedLives(changes, bands, now)
  return useQuery({
    queryKey: ['divided lives', id, parts],
    enabled: parts.length > 0,
    queryFn: ({ signal }) =>
      Promise.all(
        parts.map(async (part) => {
          const [from, to] = [new Date(part.start), new Date(part.end)]
          const query = { from, to, interval: 'week', split: 'changes' } as const
          return tallyOf(part, await ledger.signals.summary(id, query, { signal }))
        }),
      ),
  })
}

/** The signals of the largest segments, in the intervals of the chart. */
export function useSegmentLines(
  id: string,
  { from, to }: TimeRange,
  interval: Summary['interval'] | undefined,
  key: string | null,
) {
  return useQuery({
    queryKey: ['segment lines', id, from, to, interval, key],
    enabled: key !== null && interval !== undefined,
    queryFn: async ({ signal }) => {
      const query = { from, to, interval, split: 'changes', by: `metadata.${key}` } as const
      return segmentLinesOf(await ledger.signals.summary(id, query, { signal }))
    },
    placeholderData: keepPreviousData,
  })
}

/** How many entries are older than the time shown. */
export function useOlderCount(id: string, from: Date, actions: Action[], isEnabled: boolean) {
  return useQuery({
    queryKey: ['older', id, from, actions.join()],
    enabled: isEnabled,
    queryFn: async ({ signal }) => {
      const action = actions.length === 0 ? undefined : actions
      const query = { until: from, action, pulls: 'outcome', limit: 1 } as const
      return (await ledger.timeline.list(id, query, { signal })).pagination.total_count
    },
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
