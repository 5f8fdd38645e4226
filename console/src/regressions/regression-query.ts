import type { RegressionQuery } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

export function useRegression(promptId: string, id: number) {
  return useQuery({
    queryKey: ['regressions', promptId, id],
    queryFn: ({ signal }) => ledger.regressions.get(promptId, id, { signal }),
  })
}

/** A page of the regressions of all prompts. */
export function useRegressions(query: RegressionQuery) {
  return useQuery({
    queryKey: ['regressions', query],
    queryFn: async ({ signal }) => await ledger.regressions.list(query, { signal }),
    placeholderData: keepPreviousData,
  })
}

/** The open regressions of a prompt, the last opened first. */
export function useOpenRegressions(promptId: string) {
  return useQuery({
    queryKey: ['regressions', promptId, 'open'],
    queryFn: async ({ signal }) => await ledger.regressions.listOfPrompt(promptId, { state: 'open' }, { signal }),
  })
}
