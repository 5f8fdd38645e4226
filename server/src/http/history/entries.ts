import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { idParameter } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { withoutAddresses } from '../shares/restricted.ts'
import { parseHistoryEntry, toHistoryEntryBody } from './body.ts'
import type { ContentsReader } from './contents.ts'
import { toHiddenCharactersBody } from './hidden-characters.ts'
import {
  entryDetailsSchema,
  entryParamsSchema,
  type NewHistoryEntryBody,
  newHistoryEntrySchema,
  recordedEntrySchema,
} from './schema.ts'

const errors = { 401: errorBodySchema, 403: errorBodySchema, 404: errorBodySchema, 500: errorBodySchema }
const tags = ['History']

/** Record one history entry, or get one with its texts. */
export function historyEntryRoutes({ store, clock }: Context, reader: ContentsReader) {
  return async (app: FastifyInstance) => {
    app.post(
      '/prompts/:prompt_id/history',
      {
        schema: {
          operationId: 'recordHistory',
          summary: 'Record a history entry',
          description:
            'For changes made in another system. If an entry with the same values in every field exists, that entry ' +
            'is returned and nothing is added.',
          tags,
          params: promptParamsSchema,
          body: newHistoryEntrySchema,
          response: {
            201: recordedEntrySchema,
            ...errors,
            422: errorSchema('validation_error', 'action is required'),
          },
        },
        config: { roles: ['recorder', 'admin'] },
      },
      async (request, reply) => {
        const entry = parseHistoryEntry(request.body as NewHistoryEntryBody)
        const recorded = await store.history.record(request.prompt, entry, clock(), request.access)
        return reply.status(201).send({ data: toHistoryEntryBody(recorded) })
      },
    )

    app.get(
      '/prompts/:prompt_id/history/:entry_id',
      {
        schema: {
          operationId: 'getHistoryEntry',
          summary: 'Get a history entry',
          description:
            "An entry with its commit message, its actor and the prompt's text before and after. These fields are null " +
            'if unknown, for example for entries that do not come from git. Texts are returned up to 16 MiB together.',
          tags,
          params: entryParamsSchema,
          response: { 200: entryDetailsSchema, ...errors },
        },
        config: { roles: readerRoles, shared: 'always' },
      },
      async (request, reply) => {
        const { entry_id: entryId } = request.params as { entry_id: string }
        const entry = await store.history.find(request.prompt, idParameter(entryId))
        if (entry === null) throw notFound()
        const { message, actor, path, tooLarge, keyId } = entry
        const isShared = request.access.shared !== undefined
        const contents = await reader.contents(request.prompt.organisationId, entry, reply)
        const hidden = toHiddenCharactersBody(entry, contents)
        const details = {
          message: isShared ? withoutAddresses(message) : message,
          actor,
          path,
          too_large: tooLarge,
          before: contents.before,
          after: contents.after,
          before_state: contents.beforeState,
          after_state: contents.afterState,
          patch: contents.patch,
          hidden_characters: hidden,
          key_id: isShared ? null : keyId,
        }
        return { data: { ...toHistoryEntryBody(entry), ...details } }
      },
    )
  }
}
