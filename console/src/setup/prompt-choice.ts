import type { Prompt } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'

export interface PromptChoice {
  /** Null while there is no prompt to choose. */
  promptId: string | null
  /** The first 100 by name. */
  prompts: Pick<Prompt, 'id' | 'name'>[]
  isPending: boolean
  choose: (id: string) => void
}

/** The prompt that the snippets are about: the chosen one, or the first. */
export function usePromptChoice(): PromptChoice {
  const [chosen, choose] = useState<string | null>(null)
  const list = useQuery({
    queryKey: ['prompts', 'set-up'],
    queryFn: async ({ signal }) => (await ledger.prompts.list({ sort: 'name', limit: 100 }, { signal })).data,
  })
  const prompts = list.data ?? []
  return { promptId: chosen ?? prompts[0]?.id ?? null, prompts, isPending: list.isPending, choose }
}
