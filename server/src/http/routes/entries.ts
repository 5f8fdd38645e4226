import type { FastifyInstance } from 'fastify'
import { notFound } from '../../domain/errors.ts'
import { parseTime } from '../../domain/time.ts'
import type { Context } from '../app.ts'
import { parseHistoryEntry, toHistoryEntryBody } from '../history-body.ts'
import { lastOf } from '../page-body.ts'
import { pathId } from '../path-id.ts'
import {
  entryDetailsSchema,
  entryParamsSchema,
  liveQuerySchema,
  liveSchema,
  recordedEntrySchema,
} from '../schemas/entry.ts'
import { errorBodySchema } from '../schemas/error.ts'
import { type NewHistoryEntryBody, newHistoryEntrySchema } from '../schemas/history.ts'
import { promptParamsSchema } from '../schemas/prompt.ts'

const errors = {
  401: errorBodySchema,
  403: errorBodySchema,
  404: errorBodySchema,
  422: errorBodySchema,
  500: errorBodySchema,
}

/** Single entries of a prompt's history: recording one, reading all about one, and which was live at a time. */
export function entryRoutes({ store, clock, following }: Context) {
  return async (app: FastifyInstance) => {
    app.post(
      '/prompts/:prompt_id/history',
      {
        schema: {
          params: promptParamsSchema,
          body: newHistoryEntrySchema,
          response: { 201: recordedEntrySchema, ...errors },
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
        schema: { params: entryParamsSchema, response: { 200: entryDetailsSchema, ...errors } },
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
        schema: { params: promptParamsSchema, querystring: liveQuerySchema, response: { 200: liveSchema, ...errors } },
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
