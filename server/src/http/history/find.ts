import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/history.ts'
import { matchesPromptGlob } from '../../domain/prompt.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { idParameter } from '../parameters.ts'
import { route } from '../route.ts'
import { toHistoryEntryBody } from './body.ts'

/** Finds the prompt of an entry, for people who know only the number of a change. */
export function findEntryRoute({ store }: Context) {
  return async (app: FastifyInstance) => {
    route(app, operations.findHistoryEntry, async ({ access, params }) => {
      const { organisationId, prompts: glob } = access
      const entryId = idParameter((params as { entry_id: string }).entry_id)
      const promptId = await store.history.promptIdOf(organisationId, entryId)
      const [prompt] = promptId === null ? [] : await store.prompts.withIds(organisationId, [promptId])
      if (prompt === undefined || !matchesPromptGlob(glob, prompt)) throw notFound()
      const entry = await store.history.find(prompt, entryId)
      if (entry === null) throw notFound()
      return { data: { prompt: { id: prompt.publicId, name: prompt.name }, entry: toHistoryEntryBody(entry) } }
    })
  }
}
