import type { FastifyInstance } from 'fastify'
import { notFound } from '../../domain/errors.ts'
import { newPrompt, overviewStart, type Prompt, type PromptOverview, promptName } from '../../domain/prompt.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../app.ts'
import { toHistoryEntryBody } from '../history-body.ts'
import { askedPage, lastOf, renderPage } from '../page-body.ts'
import type { Query } from '../query.ts'
import { errorBodySchema, errorSchema } from '../schemas/error.ts'
import {
  onePromptSchema,
  type PromptBody,
  type PromptNameBody,
  promptNameSchema,
  promptPageSchema,
  promptParamsSchema,
  promptQuerySchema,
} from '../schemas/prompt.ts'

const readers = { roles: ['standard', 'admin'] } as const
const admins = { roles: ['admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const missing = { ...errors, 404: errorBodySchema }
const invalid = { 422: errorSchema('validation_error', 'name must be given') }
const tags = ['Prompts']
const params = promptParamsSchema
const body = promptNameSchema

/** The prompts themselves: finding, creating, renaming and deleting them. */
export function promptRoutes({ store, clock }: Context) {
  async function bodiesOf(prompts: Prompt[]): Promise<PromptBody[]> {
    return (await store.prompts.overviews(prompts, overviewStart(clock()))).map(toPromptBody)
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
          response: { 200: promptPageSchema, ...errors },
        },
        config: readers,
      },
      async (request, reply) => {
        const asked = askedPage(request.query)
        const search = lastOf((request.query as Query).q) ?? ''
        const { prompts, totalCount } = await store.prompts.page(request.access.organisationId, search, asked)
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
        const created = await store.prompts.create(newPrompt(request.access.organisationId, name, clock()))
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
        const renamed = await store.prompts.rename(request.prompt, promptName(name))
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
          response: { 204: { type: 'null', description: 'The prompt is deleted' }, ...missing },
        },
        config: admins,
      },
      async (request, reply) => {
        await store.prompts.delete(request.prompt, clock())
        return reply.status(204).send()
      },
    )
  }
}

function toPromptBody({ publicId, name, path, createdAt, lastChange, signals }: PromptOverview): PromptBody {
  return {
    id: publicId,
    name,
    path,
    created_at: isoTime(createdAt),
    last_change: lastChange === null ? null : toHistoryEntryBody(lastChange),
    signals,
  }
}
