import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { shiftCauses } from '../../domain/shifts/shift.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { enumParameter, type Query, timeParameter } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { visiblePrompts } from '../visible-prompts.ts'
import { toShiftBody } from './body.ts'
import { shiftPageSchema, shiftQuerySchema } from './schema.ts'

const invalidCause = errorSchema('validation_error', `cause must be one of ${shiftCauses.join(', ')}`)
const errors = { 401: errorBodySchema, 403: errorBodySchema, 422: invalidCause, 500: errorBodySchema }
const tags = ['Regressions']
const readers = { roles: readerRoles }

/** When the rates of prompts moved, and why. */
export function shiftRoutes({ store }: Context) {
  async function pageOf(query: unknown, organisationId: number, promptIds: number[] | null): Promise<string> {
    const request = requestedPage(query)
    const filter = {
      promptIds,
      cause: enumParameter(query as Query, 'cause', shiftCauses),
      since: timeParameter(query as Query, 'since'),
    }
    const { shifts, totalCount } = await store.shifts.page(organisationId, filter, request)
    return renderPage(shifts.map(toShiftBody), request, totalCount)
  }

  return async (app: FastifyInstance) => {
    app.get(
      '/shifts',
      {
        schema: {
          operationId: 'listShifts',
          summary: 'List the shifts of all prompts',
          description:
            'When the rate of positive signals moved more than wandering explains, newest first, with the cause: a change, ' +
            'something outside of the prompt that other prompts share, or unknown. If the votes do not tell which of several ' +
            'changes it was, it is unexplained, and `candidates` lists them. Found in the background, within seconds ' +
            'to minutes of the votes.',
          tags,
          querystring: shiftQuerySchema,
          response: { 200: shiftPageSchema, ...errors },
        },
        config: readers,
      },
      async ({ access, query }, reply) => {
        const page = await pageOf(query, access.organisationId, await visiblePrompts(store.prompts, access))
        return reply.type('application/json; charset=utf-8').send(page)
      },
    )

    app.get(
      '/prompts/:prompt_id/shifts',
      {
        schema: {
          operationId: 'listPromptShifts',
          summary: 'List the shifts of a prompt',
          description: 'Up to 16, newest first.',
          tags,
          params: promptParamsSchema,
          querystring: shiftQuerySchema,
          response: { 200: shiftPageSchema, ...errors, 404: errorBodySchema },
        },
        config: { ...readers, shared: 'always' },
      },
      async ({ prompt, query }, reply) => {
        const page = await pageOf(query, prompt.organisationId, [prompt.id])
        return reply.type('application/json; charset=utf-8').send(page)
      },
    )
  }
}
