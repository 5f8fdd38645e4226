import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { matchesPromptGlob } from '../../domain/prompt.ts'
import type { Context } from '../context.ts'
import { errorBodySchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { idParameter } from '../parameters.ts'
import { toHistoryEntryBody } from './body.ts'
import { foundEntryParamsSchema, foundEntrySchema } from './schema.ts'

const schema = {
  operationId: 'findHistoryEntry',
  summary: 'Find a history entry',
  description: 'An entry by its ID alone, with the prompt that it belongs to.',
  tags: ['History'],
  params: foundEntryParamsSchema,
  response: {
    200: foundEntrySchema,
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    500: errorBodySchema,
  },
}

/** Finds the prompt of an entry, for people who know only the number of a change. */
export function findEntryRoute({ store }: Context) {
  return async (app: FastifyInstance) => {
    app.get('/history/:entry_id', { schema, config: { roles: readerRoles } }, async ({ access, params }) => {
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
