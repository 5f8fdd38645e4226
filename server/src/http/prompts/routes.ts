import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { overviewStart, overviewsOf } from '../../domain/impact/overview.ts'
import { nameTaken, newPrompt, type Prompt, type PromptOrder, validPromptName } from '../../domain/prompt.ts'
import type { Instant } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, unexpectedBodySchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { enumParameter, lastValue, type Query } from '../parameters.ts'
import { toPromptBodies } from './body.ts'
import { promptIdExample, promptParamsSchema } from './id-schema.ts'
import {
  onePromptSchema,
  type PromptBody,
  type PromptNameBody,
  promptNameSchema,
  promptPageSchema,
  promptQuerySchema,
  promptSortValues,
} from './schema.ts'

const readers = { roles: readerRoles }
const admins = { roles: ['admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const errorsWithNotFound = { ...errors, 404: errorBodySchema }
const invalidName = {
  409: errorSchema('conflict', nameTaken(promptIdExample).message),
  422: errorSchema('validation_error', 'name is required'),
}
const tags = ['Prompts']
const invalidSort = `sort must be one of ${promptSortValues.join(', ')}`
const params = promptParamsSchema
const body = promptNameSchema

/** List, search, create, rename and delete prompts. */
export function promptRoutes({ store, learned, clock }: Context) {
  async function bodiesOf(prompts: Prompt[]): Promise<PromptBody[]> {
    return toPromptBodies(await overviewsOf(store, learned, prompts, clock()))
  }

  async function respondWith(prompt: Prompt) {
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
          description: 'With the last change, its verdict and the signals of the last 30 days.',
          tags,
          querystring: promptQuerySchema,
          response: { 200: promptPageSchema, ...errors, 422: errorSchema('validation_error', invalidSort) },
        },
        config: readers,
      },
      async (request, reply) => {
        const pageRequest = requestedPage(request.query)
        const { organisationId, prompts: glob } = request.access
        const filter = { search: lastValue((request.query as Query).q) ?? '', glob }
        const order = parseOrder(request.query as Query, clock())
        const { prompts, totalCount } = await store.prompts.page(organisationId, filter, order, pageRequest)
        const page = renderPage(await bodiesOf(prompts), pageRequest, totalCount)
        return reply.type('application/json; charset=utf-8').send(page)
      },
    )

    app.post(
      '/prompts',
      {
        schema: {
          operationId: 'createPrompt',
          summary: 'Create a prompt',
          description:
            'For a prompt whose file is not in a connected repository. Prompts of connected repositories are created automatically.',
          tags,
          body,
          response: { 201: onePromptSchema, ...errors, ...invalidName },
        },
        config: admins,
      },
      async (request, reply) => {
        const { name } = request.body as PromptNameBody
        const { access } = request
        const created = await store.prompts.create(newPrompt(access.organisationId, name, clock()), access)
        return reply.status(201).send(await respondWith(created))
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
          response: { 200: onePromptSchema, ...errorsWithNotFound },
        },
        config: { ...readers, shared: 'always' },
      },
      (request) => respondWith(request.prompt),
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
          response: { 200: onePromptSchema, ...errorsWithNotFound, ...invalidName },
        },
        config: admins,
      },
      async (request) => {
        const { name } = request.body as PromptNameBody
        const renamed = await store.prompts.rename(request.prompt, validPromptName(name), clock(), request.access)
        if (renamed === null) throw notFound()
        return respondWith(renamed)
      },
    )

    app.delete(
      '/prompts/:prompt_id',
      {
        schema: {
          operationId: 'deletePrompt',
          summary: 'Delete a prompt',
          description:
            'Requests for the prompt get 404 from now on. Its signals still count towards the monthly limit.',
          tags,
          params,
          response: {
            204: { type: 'null', description: 'The prompt is deleted' },
            ...errorsWithNotFound,
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

function parseOrder(query: Query, now: Instant): PromptOrder {
  const value = enumParameter(query, 'sort', promptSortValues) ?? 'name'
  const descending = value.startsWith('-')
  return {
    by: (descending ? value.slice(1) : value) as PromptOrder['by'],
    descending,
    since: overviewStart(now),
  }
}
