import type { ShiftQuery } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

/** Moves of rates that neither a change nor other prompts explain, newest first. */
export function useUnexplainedShifts(query: ShiftQuery) {
  return useQuery({
    queryKey: ['shifts', 'unexplained', query],
    queryFn: async ({ signal }) => await ledger.shifts.list({ ...query, cause: 'unexplained' }, { signal }),
    placeholderData: keepPreviousData,
  })
}

export function useShift(promptId: string, id: string) {
  return useQuery({
    queryKey: ['shifts', promptId, id],
    queryFn: ({ signal }) => ledger.shifts.get(promptId, id, { signal }),
  })
}

/** When the rate of a prompt moved, and why. */
export function usePromptShifts(promptId: string) {
  return useQuery({
    queryKey: ['shifts', promptId],
    queryFn: async ({ signal }) => (await ledger.shifts.listOfPrompt(promptId, { limit: 100 }, { signal })).data,
  })
}
