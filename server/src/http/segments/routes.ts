import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { validSegmentKeys } from '../../domain/impact/segment-keys.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import {
  type NewPromptSegmentKeysBody,
  type NewSegmentKeysBody,
  newPromptSegmentKeysSchema,
  newSegmentKeysSchema,
  promptSegmentKeysSchema,
  segmentKeysSchema,
} from './schema.ts'

const tags = ['Impact']
const readers = { roles: readerRoles }
const admins = { roles: ['admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const errorsOfPrompt = { ...errors, 404: errorBodySchema }
const invalidKeys = errorSchema('validation_error', 'keys is required')

/** Which keys of the metadata divide signals into segments. */
export function segmentRoutes({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.get(
      '/segments',
      {
        schema: {
          operationId: 'getSegments',
          summary: 'Get the declared segments',
          description: 'The keys of the metadata that apply to every prompt without keys of its own.',
          tags,
          response: { 200: segmentKeysSchema, ...errors },
        },
        config: readers,
      },
      async (request) => ({ data: { keys: await store.segments.ofOrganisation(request.access.organisationId) } }),
    )

    app.put(
      '/segments',
      {
        schema: {
          operationId: 'declareSegments',
          summary: 'Declare segments',
          description:
            'Replaces the keys of the metadata whose values divide signals into segments, such as `model` or `locale`. ' +
            'Verdicts then allow for a change in the audience, and `impact?by=metadata.model` judges each segment.',
          tags,
          body: newSegmentKeysSchema,
          response: { 200: segmentKeysSchema, ...errors, 422: invalidKeys },
        },
        config: admins,
      },
      async (request) => {
        const keys = validSegmentKeys((request.body as NewSegmentKeysBody).keys)
        const { access } = request
        await store.segments.setForOrganisation(access.organisationId, keys, clock(), access)
        return { data: { keys } }
      },
    )

    app.get(
      '/prompts/:prompt_id/segments',
      {
        schema: {
          operationId: 'getPromptSegments',
          summary: 'Get the segments of a prompt',
          tags,
          params: promptParamsSchema,
          response: { 200: promptSegmentKeysSchema, ...errorsOfPrompt },
        },
        config: readers,
      },
      async (request) => ({ data: await store.segments.ofPrompt(request.prompt) }),
    )

    app.put(
      '/prompts/:prompt_id/segments',
      {
        schema: {
          operationId: 'declarePromptSegments',
          summary: 'Declare the segments of a prompt',
          description:
            'Replaces those of the organisation for this prompt. `null` returns to those of the organisation.',
          tags,
          params: promptParamsSchema,
          body: newPromptSegmentKeysSchema,
          response: { 200: promptSegmentKeysSchema, ...errorsOfPrompt, 422: invalidKeys },
        },
        config: admins,
      },
      async (request) => {
        const { keys } = request.body as NewPromptSegmentKeysBody
        const { prompt, access } = request
        await store.segments.setForPrompt(prompt, keys === null ? null : validSegmentKeys(keys), clock(), access)
        return { data: await store.segments.ofPrompt(prompt) }
      },
    )
  }
}
