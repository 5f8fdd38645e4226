import type { Prompt } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'

export interface PromptChoice {
  /** Null while there is no prompt to choose. */
  prompt: Prompt | null
  /** The first 100 by name. */
  prompts: Prompt[]
  isPending: boolean
  choose: (id: string) => void
}

/** The prompt that the snippets are about: the chosen one, or the first, rather one of the organisation than the sample. */
export function usePromptChoice(): PromptChoice {
  const [chosen, choose] = useState<string | null>(null)
  const list = useQuery({
    queryKey: ['prompts', 'set-up'],
    queryFn: async ({ signal }) => (await ledger.prompts.list({ sort: 'name', limit: 100 }, { signal })).data,
  })
  const prompts = list.data ?? []
  const prompt =
    prompts.find(({ id }) => id === chosen) ?? prompts.find((each) => !isSample(each)) ?? prompts[0] ?? null
  return { prompt, prompts, isPending: list.isPending, choose }
}

/** The prompt that the first start of the service creates. No file can have this name, because of the slash at the start. */
export function isSample({ name }: Pick<Prompt, 'name'>): boolean {
  return name.startsWith('/sample/')
}
