import type { FastifyInstance } from 'fastify'
import { notFound } from '../../domain/errors.ts'
import { parseTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { lastOf, pathId } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { parseHistoryEntry, toHistoryEntryBody } from './body.ts'
import {
  entryDetailsSchema,
  entryParamsSchema,
  liveQuerySchema,
  liveSchema,
  type NewHistoryEntryBody,
  newHistoryEntrySchema,
  recordedEntrySchema,
} from './schema.ts'

const errors = {
  401: errorBodySchema,
  403: errorBodySchema,
  404: errorBodySchema,
  500: errorBodySchema,
}
const tags = ['History']

/** Single entries of a prompt's history: recording one, reading all about one, and which was live at a time. */
export function entryRoutes({ store, clock, repositories: following }: Context) {
  return async (app: FastifyInstance) => {
    app.post(
      '/prompts/:prompt_id/history',
      {
        schema: {
          operationId: 'recordHistory',
          summary: 'Record a history entry',
          description:
            'For changes that come from another system. One that is there already, the same in every field, is ' +
            'given back.',
          tags,
          params: promptParamsSchema,
          body: newHistoryEntrySchema,
          response: {
            201: recordedEntrySchema,
            ...errors,
            422: errorSchema('validation_error', 'action must be given'),
          },
        },
        config: { roles: ['admin'] },
      },
      async (request, reply) => {
        const entry = parseHistoryEntry(request.body as NewHistoryEntryBody)
        const recorded = await store.history.record(request.prompt, entry)
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
            'What was changed, by whom, and the text before and after. Null for what nobody told, as for entries ' +
            'that were not read from git.',
          tags,
          params: entryParamsSchema,
          response: { 200: entryDetailsSchema, ...errors },
        },
        config: { roles: ['standard', 'admin'] },
      },
      async (request) => {
        const { entry_id: entryId } = request.params as { entry_id: string }
        const entry = await store.history.find(request.prompt, pathId(entryId))
        if (entry === null) throw notFound()
        const { message, actor, path } = entry
        const contents = await following.contents(entry)
        return { data: { ...toHistoryEntryBody(entry), message, actor, path, ...contents } }
      },
    )

    app.get(
      '/prompts/:prompt_id/live',
      {
        schema: {
          operationId: 'getLive',
          summary: 'Get what was live',
          description:
            'The change that was live at a time, with the text of the prompt. 404 before the first change. ' +
            '`content` is null where the file was deleted, or git no longer has it.',
          tags,
          params: promptParamsSchema,
          querystring: liveQuerySchema,
          response: {
            200: liveSchema,
            ...errors,
            422: errorSchema(
              'validation_error',
              'at must be an ISO 8601 time with a zone, such as 2026-11-15T09:30:00.000Z',
            ),
          },
        },
        config: { roles: ['standard', 'admin'] },
      },
      async (request) => {
        const at = lastOf((request.query as Record<string, string | string[] | undefined>).at)
        const entry = await store.history.live(request.prompt, at === undefined ? clock() : parseTime('at', at))
        if (entry === null) throw notFound()
        const { after } = await following.contents(entry)
        return { data: { entry: toHistoryEntryBody(entry), path: entry.path, content: after } }
      },
    )
  }
}
