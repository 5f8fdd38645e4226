import type { FastifyRequest } from 'fastify'
import type { Access } from '../domain/access/api-key.ts'
import { matchesPromptGlob, type PromptStore } from '../domain/prompt.ts'
import { filterInTurns } from '../domain/time.ts'

/** The IDs of the prompts that a key may read; null for all prompts of the organisation. */
export async function visiblePrompts(
  prompts: Pick<PromptStore, 'list'>,
  { organisationId, prompts: glob }: Pick<Access, 'organisationId' | 'prompts'>,
): Promise<number[] | null> {
  if (glob === null) return null
  const all = await prompts.list(organisationId)
  return (await filterInTurns(all, (prompt) => matchesPromptGlob(glob, prompt))).map(({ id }) => id)
}

/** The IDs of the prompts that a list is about: the one in the path, or those that the key may read. */
export async function listedPrompts(
  prompts: Pick<PromptStore, 'list'>,
  { prompt, access }: FastifyRequest,
): Promise<number[] | null> {
  return prompt === undefined ? visiblePrompts(prompts, access) : [prompt.id]
}
