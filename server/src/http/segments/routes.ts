import type { FastifyInstance } from 'fastify'
import { type NewPromptSegmentKeysBody, type NewSegmentKeysBody, operations } from '../../../../contract/segments.ts'
import { validSegmentKeys } from '../../domain/impact/reading/segment-keys.ts'
import type { Context } from '../context.ts'
import { route } from '../route.ts'

/** Which keys of the metadata divide signals into segments. */
export function segmentRoutes(app: FastifyInstance, { store, clock }: Context): void {
  route(app, operations.getSegments, async (request) => ({
    data: { keys: await store.segments.ofOrganisation(request.access.organisationId) },
  }))

  route(app, operations.declareSegments, async (request) => {
    const keys = validSegmentKeys((request.body as NewSegmentKeysBody).keys)
    const { access } = request
    await store.segments.setForOrganisation(access.organisationId, keys, clock(), access)
    return { data: { keys } }
  })

  route(app, operations.getPromptSegments, async (request) => ({
    data: await store.segments.ofPrompt(request.prompt),
  }))

  route(app, operations.declarePromptSegments, async (request) => {
    const { keys } = request.body as NewPromptSegmentKeysBody
    const { prompt, access } = request
    await store.segments.setForPrompt(prompt, keys === null ? null : validSegmentKeys(keys), clock(), access)
    return { data: await store.segments.ofPrompt(prompt) }
  })
}
