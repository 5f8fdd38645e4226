import { type QueryClient, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

// People watch this while they set up the other side.
const pollIntervalMs = 5_000

export function useSources() {
  return useQuery({
    queryKey: ['sources'],
    queryFn: ({ signal }) => Array.fromAsync(ledger.sources.list({}, { signal })),
  })
}

export function useSource(id: string) {
  return useQuery({
    queryKey: ['sources', id],
    queryFn: ({ signal }) => ledger.sources.get(id, { signal }),
    refetchInterval: pollIntervalMs,
  })
}

export async function refreshSources(queryClient: QueryClient): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['sources'] })
}
