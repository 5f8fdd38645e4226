import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/shifts.ts'
import { shiftCauses } from '../../domain/shifts/shift.ts'
import type { Context } from '../context.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { enumParameter, type Query, timeParameter } from '../parameters.ts'
import { route } from '../route.ts'

import { visiblePrompts } from '../visible-prompts.ts'
import { toShiftBody } from './body.ts'

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
    route(app, operations.listShifts, async ({ access, query }, reply) => {
      const page = await pageOf(query, access.organisationId, await visiblePrompts(store.prompts, access))
      return reply.type('application/json; charset=utf-8').send(page)
    })

    route(app, operations.listPromptShifts, async ({ prompt, query }, reply) => {
      const page = await pageOf(query, prompt.organisationId, [prompt.id])
      return reply.type('application/json; charset=utf-8').send(page)
    })
  }
}
