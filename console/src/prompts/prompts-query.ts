import type { PromptSort } from '@promptledger/client'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'

/** A page of prompts. The service asks browsers to preload the first one, so its URL is known there (console/routes.ts). */
export function promptsQuery(list: { page: number; q: string; sort: PromptSort }) {
  return queryOptions({
    queryKey: ['prompts', list],
    queryFn: async ({ signal }) => await ledger.prompts.list(list, { signal }),
    placeholderData: keepPreviousData,
  })
}
