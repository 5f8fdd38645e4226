import type { Repository } from '@promptledger/client'
import { type QueryClient, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

export const pollIntervalMs = 1_000

/** A repository, polled during its backfill and for as long as `isAwaited` says so. */
export function useRepository(id: number, isAwaited: (repository: Repository) => boolean = () => false) {
  return useQuery({
    queryKey: ['repository', id],
    queryFn: ({ signal }) => ledger.repositories.get(id, { signal }),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && (data.state === 'connecting' || isAwaited(data)) && pollIntervalMs,
  })
}

/** Reloads everything but the session: a sync also changes prompts and their history. */
export async function refreshRepositories(queryClient: QueryClient): Promise<void> {
  await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
}
