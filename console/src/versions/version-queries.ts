import { type Action, NotFoundError } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { useTimelineEntry } from '../prompt/entry-queries.ts'

export function usePrompt(id: string) {
  return useQuery({
    queryKey: ['prompt', id],
    queryFn: ({ signal }) => ledger.prompts.get(id, { signal }),
  })
}

/** The live version; null if no change has gone live. */
export function useLive(promptId: string) {
  const prompt = usePrompt(promptId).data
  return useQuery({
    queryKey: ['live', promptId],
    enabled: prompt !== undefined,
    queryFn: async ({ signal }) => {
      // A prompt without a file and without a change has no live version to ask for.
      if (prompt?.path === null && prompt.last_change === null) return null
      return ledger.history.live(promptId, {}, { signal }).catch((error) => {
        if (error instanceof NotFoundError) return null
        throw error
      })
    },
  })
}

// The API accepts no longer search.
const maxSearchLength = 200

/** A page of the versions that went live, newest first. */
export function useVersions(promptId: string, { q, page }: { q: string; page: number }) {
  return useQuery({
    queryKey: ['versions', promptId, q, page],
    queryFn: async ({ signal }) =>
      await ledger.versions.list(promptId, { q: q.slice(0, maxSearchLength), page }, { signal }),
    placeholderData: keepPreviousData,
  })
}

/** Which change wrote each line of a version. */
export function useBlame(promptId: string, entryId: number) {
  return useQuery({
    queryKey: ['blame', promptId, entryId],
    // A commit never changes, and git takes a while.
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => ledger.versions.blame(promptId, { entry: entryId }, { signal }),
  })
}

interface Neighbours {
  older: number | null
  newer: number | null
}

/** The versions right before and after one; null if there is none. */
export function useNeighbours(promptId: string, entryId: number | null) {
  const newest = useVersions(promptId, { q: '', page: 1 }).data
  const entry = useTimelineEntry(promptId, entryId).data?.entry
  return useQuery({
    queryKey: ['neighbours', promptId, entryId],
    enabled: newest !== undefined && entry !== undefined,
    queryFn: async ({ signal }): Promise<Neighbours> => {
      const ids = newest?.data.map((version) => version.entry.id) ?? []
      const at = ids.indexOf(entryId as number)
      const isLast = at === ids.length - 1 && newest?.pagination.total_count !== ids.length
      if (at !== -1 && !isLast) return { older: ids[at + 1] ?? null, newer: ids[at - 1] ?? null }
      return await neighboursByTime(promptId, entry?.created_at as string, signal)
    },
  })
}

/** For a version that is not among the newest: the changes before and after it on the default branch. */
async function neighboursByTime(promptId: string, at: string, signal: AbortSignal): Promise<Neighbours> {
  const landed = { action: ['deployed', 'pr_merged'] satisfies Action[], limit: 1 }
  const later = { ...landed, since: new Date(Date.parse(at) + 1) }
  const [before, after] = await Promise.all([
    ledger.timeline.list(promptId, { ...landed, until: at }, { signal }),
    ledger.timeline.list(promptId, later, { signal }),
  ])
  const count = after.pagination.total_count
  const next = count <= 1 ? after : await ledger.timeline.list(promptId, { ...later, page: count }, { signal })
  return { older: before.data[0]?.entry.id ?? null, newer: next.data[0]?.entry.id ?? null }
}
