import type { Repository } from '@promptledger/client'
import { type QueryClient, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

const second = 1_000

/** A repository, watched while its history is being read; `watched` for as long as somebody waits for something else. */
export function useRepository(id: number, watched: (repository: Repository) => boolean = () => false) {
  return useQuery({
    queryKey: ['repository', id],
    queryFn: ({ signal }) => ledger.repositories.get(id, { signal }),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && (data.state === 'connecting' || watched(data)) && second,
  })
}

/** After something happened to a repository; what it brought is seen in prompts and their history too. */
export async function refreshRepositories(queries: QueryClient): Promise<void> {
  await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
}
