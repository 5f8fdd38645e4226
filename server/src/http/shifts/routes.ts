import type { FastifyInstance } from 'fastify'
import { operations, type ShiftBody } from '../../../../contract/shifts.ts'
import { explainShift } from '../../domain/shifts/explain-shift.ts'
import { type ListedShift, shiftCauses } from '../../domain/shifts/shift.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { enumParameter, type Query, timeParameter } from '../parameters.ts'
import { route } from '../route.ts'
import { visiblePrompts } from '../visible-prompts.ts'

/** When the rates of prompts moved, and why. */
export function shiftRoutes({ store }: Context) {
  async function pageOf(query: unknown, organisationId: number, promptIds: number[] | null): Promise<string> {
    const request = requestedPage(query)
    const filter = {
      promptIds,
      cause: enumParameter(query as Query, 'cause', shiftCauses),
      since: timeParameter(query as Query, 'since'),
      foundSince: timeParameter(query as Query, 'found_since'),
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

function toShiftBody(shift: ListedShift): ShiftBody {
  const { prompt, at, between, foundAt, rateBefore, rateAfter } = shift
  return {
    prompt: { id: prompt.publicId, name: prompt.name },
    at: isoTime(at),
    between: [isoTime(between[0]), isoTime(between[1])],
    found_at: isoTime(foundAt),
    rate_before: rateBefore,
    rate_after: rateAfter,
    cause: toCauseBody(shift),
    candidates: toCandidatesBody(shift),
    explanation: explainShift(shift),
  }
}

function toCandidatesBody({ candidates, candidateChanges }: ListedShift): ShiftBody['candidates'] {
  if (candidates === null || candidateChanges.length === 0) return null
  const changes = candidateChanges.map(({ change, share }) => ({ change: toHistoryEntryBody(change), share }))
  return { count: candidates.count, changes }
}

function toCauseBody({ change, sharedWith, candidates }: ListedShift): ShiftBody['cause'] {
  if (sharedWith !== null) return { shared_with: sharedWith }
  return change === null || candidates !== null ? { unexplained: true } : { change: toHistoryEntryBody(change) }
}
