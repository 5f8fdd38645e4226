import type { FastifyInstance } from 'fastify'
import { type Overview, overviewStart, overviewsOf } from '../../domain/impact/overview.ts'
import { newPrompt, type Prompt, type PromptOrder, promptName } from '../../domain/prompt.ts'
import { type Instant, isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, unexpectedBodySchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { enumParameter, lastValue, type Query } from '../parameters.ts'
import { promptParamsSchema } from './id-schema.ts'
import {
  onePromptSchema,
  type PromptBody,
  type PromptNameBody,
  promptNameSchema,
  promptPageSchema,
  promptQuerySchema,
  promptSortWords,
} from './schema.ts'

const readers = { roles: ['standard', 'admin'] } as const
const admins = { roles: ['admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const missing = { ...errors, 404: errorBodySchema }
const invalid = { 422: errorSchema('validation_error', 'name is required') }
const tags = ['Prompts']
const noSort = `sort must be one of ${promptSortWords.join(', ')}`
const params = promptParamsSchema
const body = promptNameSchema

/** The prompts themselves: finding, creating, renaming and deleting them. */
export function promptRoutes({ store, clock }: Context) {
  async function bodiesOf(prompts: Prompt[]): Promise<PromptBody[]> {
    return (await overviewsOf(store, prompts, clock())).map(toPromptBody)
  }

  async function answer(prompt: Prompt) {
    const [data] = await bodiesOf([prompt])
    return { data }
  }

  return async (app: FastifyInstance) => {
    app.get(
      '/prompts',
      {
        schema: {
          operationId: 'listPrompts',
          summary: 'List prompts',
          tags,
          querystring: promptQuerySchema,
          response: { 200: promptPageSchema, ...errors, 422: errorSchema('validation_error', noSort) },
        },
        config: readers,
      },
      async (request, reply) => {
        const asked = requestedPage(request.query)
        const search = lastValue((request.query as Query).q) ?? ''
        const order = orderOf(request.query as Query, clock())
        const { prompts, totalCount } = await store.prompts.page(request.access.organisationId, search, order, asked)
        const page = renderPage(await bodiesOf(prompts), asked, totalCount)
        return reply.type('application/json; charset=utf-8').send(page)
      },
    )

    app.post(
      '/prompts',
      {
        schema: {
          operationId: 'createPrompt',
          summary: 'Create a prompt',
          description: 'For one whose file is in no repository that is followed.',
          tags,
          body,
          response: { 201: onePromptSchema, ...errors, ...invalid },
        },
        config: admins,
      },
      async (request, reply) => {
        const { name } = request.body as PromptNameBody
        const { access } = request
        const created = await store.prompts.create(newPrompt(access.organisationId, name, clock()), access)
        return reply.status(201).send(await answer(created))
      },
    )

    app.get(
      '/prompts/:prompt_id',
      {
        schema: {
          operationId: 'getPrompt',
          summary: 'Get a prompt',
          tags,
          params,
          response: { 200: onePromptSchema, ...missing },
        },
        config: readers,
      },
      (request) => answer(request.prompt),
    )

    app.patch(
      '/prompts/:prompt_id',
      {
        schema: {
          operationId: 'renamePrompt',
          summary: 'Rename a prompt',
          tags,
          params,
          body,
          response: { 200: onePromptSchema, ...missing, ...invalid },
        },
        config: admins,
      },
      async (request) => {
        const { name } = request.body as PromptNameBody
        const renamed = await store.prompts.rename(request.prompt, promptName(name), clock(), request.access)
        if (renamed === null) throw notFound()
        return answer(renamed)
      },
    )

    app.delete(
      '/prompts/:prompt_id',
      {
        schema: {
          operationId: 'deletePrompt',
          summary: 'Delete a prompt',
          description: 'It is not found from then on; its signals keep counting for the month.',
          tags,
          params,
          response: {
            204: { type: 'null', description: 'The prompt is deleted' },
            ...missing,
            422: unexpectedBodySchema,
          },
        },
        config: admins,
      },
      async (request, reply) => {
        await store.prompts.delete(request.prompt, clock(), request.access)
        return reply.status(204).send()
      },
    )
  }
}

function orderOf(query: Query, now: Instant): PromptOrder {
  const word = enumParameter(query, 'sort', promptSortWords) ?? 'name'
  const descending = word.startsWith('-')
  return {
    by: (descending ? word.slice(1) : word) as PromptOrder['by'],
    descending,
    since: overviewStart(now),
  }
}

function toPromptBody({ prompt, lastChange, days, signals }: Overview): PromptBody {
  const { publicId, name, path, createdAt } = prompt
  return {
    id: publicId,
    name,
    path,
    created_at: isoTime(createdAt),
    last_change: lastChange === null ? null : toHistoryEntryBody(lastChange.entry),
    verdict: lastChange?.verdict ?? null,
    signals: { ...signals, days: days.map(({ start, ...tally }) => ({ start: isoTime(start), ...tally })) },
  }
}
