import type { TimelineEntry } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

export function timelineEntryKey(promptId: string, entryId: number | null) {
  return ['timeline-entry', promptId, entryId]
}

/** A change of any age with its message and its effect: with one request, or none if it is among the loaded ones. */
export function useTimelineEntry(promptId: string, entryId: number | null, loaded: TimelineEntry[] = []) {
  return useQuery({
    queryKey: timelineEntryKey(promptId, entryId),
    enabled: entryId !== null,
    initialData: () => loaded.find(({ entry }) => entry.id === entryId),
    queryFn: ({ signal }) => ledger.timeline.get(promptId, entryId as number, {}, { signal }),
  })
}

/** A change with the text before and after it. */
export function useEntryTexts(promptId: string, entryId: number) {
  return useQuery({
    queryKey: ['entry', promptId, entryId],
    // A commit never changes.
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => ledger.history.get(promptId, entryId, { signal }),
  })
}
