import { useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

export function usePrompt(id: string) {
  return useQuery({
    queryKey: ['prompt', id],
    queryFn: ({ signal }) => ledger.prompts.get(id, { signal }),
  })
}
