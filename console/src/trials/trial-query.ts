import type { Trial, TrialQuery } from '@promptledger/client'
import { keepPreviousData, type QueryClient, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { isShared } from '../shared/token.ts'

// As often as the service judges trials.
const pollIntervalMs = 5_000
const maxOfPrompt = 100

export function useTrial(id: string) {
  return useQuery({
    queryKey: ['trials', id],
    queryFn: ({ signal }) => ledger.trials.get(id, {}, { signal }),
    refetchInterval: ({ state: { data } }) => data?.state !== 'ended' && pollIntervalMs,
  })
}

export function useTrials(query: TrialQuery) {
  return useQuery({
    queryKey: ['trials', query],
    queryFn: async ({ signal }) => await ledger.trials.list(query, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      data?.data.some(({ state }) => state !== 'ended') === true && pollIntervalMs,
  })
}

/** The trials of a prompt, newest first. A share link does not show them. */
export function useTrialsOf(promptId: string) {
  return useQuery({
    queryKey: ['trials', { prompt: promptId }, 'of prompt'],
    enabled: !isShared,
    queryFn: async ({ signal }) =>
      (await ledger.trials.list({ prompt: promptId, limit: maxOfPrompt }, { signal })).data,
  })
}

/** The newest trial of what became this change: its pull request, or its commit. */
export function trialOf(
  trials: Trial[] | undefined,
  { pr_number: pull, commit_sha: commit }: { pr_number: number | null; commit_sha: string },
): Trial | null {
  const isOf = (trial: Trial) => (pull !== null && trial.pr_number === pull) || trial.commit_sha === commit
  return trials?.find(isOf) ?? null
}

export function refreshTrials(queryClient: QueryClient): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['trials'] })
}

export function trialPath({ id }: { id: string }): string {
  return `/trials/${encodeURIComponent(id)}`
}
