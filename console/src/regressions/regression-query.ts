import type { HistoryEntry } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

export function useRegression(promptId: string, id: number) {
  return useQuery({
    queryKey: ['regressions', promptId, id],
    queryFn: ({ signal }) => ledger.regressions.get(promptId, id, { signal }),
  })
}

/** The open regressions of a prompt, the last opened first. */
export function useOpenRegressions(promptId: string) {
  return useQuery({
    queryKey: ['regressions', promptId, 'open'],
    queryFn: async ({ signal }) => await ledger.regressions.listOfPrompt(promptId, { state: 'open' }, { signal }),
  })
}

/** The change with its message and its impact, as the timeline has it. Null if it is no longer part of the history. */
export function useChange(promptId: string, { id, created_at: at }: HistoryEntry) {
  return useQuery({
    queryKey: ['timeline-entry', promptId, id],
    queryFn: async ({ signal }) => {
      const until = new Date(Date.parse(at) + 1)
      for await (const item of ledger.timeline.list(promptId, { since: at, until }, { signal })) {
        if (item.entry.id === id) return item
      }
      return null
    },
  })
}
