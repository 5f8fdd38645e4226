import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DismissalBody, TriageBody } from '../../../../contract/regressions.ts'
import { operations, type ShiftBody, type ShiftDetailsBody, shiftNotOpen } from '../../../../contract/shifts.ts'
import { DomainError } from '../../domain/errors.ts'
import { regressionStates, validNote } from '../../domain/regressions/regression.ts'
import { explainShift } from '../../domain/shifts/explain-shift.ts'
import { isShiftId, type ListedShift, shiftCauses, suspectOf, type TriagedShift } from '../../domain/shifts/shift.ts'
import { isoTime, timeOrNull } from '../../domain/time.ts'
import { ownerOf } from '../../domain/triage.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { enumParameter, lastValue, type Query, timeParameter } from '../parameters.ts'
import { beforeBody, route } from '../route.ts'
import { readTriage, toStepBody, toTriagedBody } from '../triage-body.ts'
import { listedPrompts } from '../visible-prompts.ts'

/** When the rates of prompts moved, and why. */
export function shiftRoutes(app: FastifyInstance, { store, clock }: Context): void {
  async function existing({ prompt, params }: FastifyRequest): Promise<ListedShift> {
    const shift = await store.shifts.find(prompt, shiftId(params))
    if (shift === null) throw notFound()
    return shift
  }

  async function list(request: FastifyRequest, reply: FastifyReply) {
    const { organisationId, shared } = request.access
    const promptIds = await listedPrompts(store.prompts, request)
    const query = request.query as Query
    const page = requestedPage(query)
    const filter = {
      promptIds,
      cause: enumParameter(query, 'cause', shiftCauses),
      since: timeParameter(query, 'since'),
      foundSince: timeParameter(query, 'found_since'),
      state: enumParameter(query, 'state', regressionStates),
      owner: shared === undefined ? (lastValue(query.owner) ?? null) : null,
    }
    const { shifts, totalCount } = await store.shifts.page(organisationId, filter, page)
    return sendPage(reply, shifts.map(toShiftBody), page, totalCount)
  }

  route(app, operations.listShifts, list)
  route(app, operations.listPromptShifts, list)

  route(app, operations.getShift, async (request): Promise<{ data: ShiftDetailsBody }> => {
    const shift = await existing(request)
    const steps = await store.shifts.steps(request.access.organisationId, shift.id)
    return { data: { ...toShiftBody(shift), steps: steps.map(toStepBody) } }
  })

  route(
    app,
    operations.updateShift,
    async ({ prompt, access, params, body }) => {
      const now = clock()
      const triage = readTriage(body as TriageBody, now)
      return { data: toTriagedShift(await store.shifts.triage(prompt, shiftId(params), triage, now, access)) }
    },
    beforeBody(existing),
  )

  route(
    app,
    operations.dismissShift,
    async ({ prompt, access, params, body }) => {
      const note = validNote((body as DismissalBody).note)
      return { data: toTriagedShift(await store.shifts.dismiss(prompt, shiftId(params), note, clock(), access)) }
    },
    beforeBody(existing),
  )
}

/** Anything else is as missing as an unknown one, and a database may not accept it. */
function shiftId(params: unknown): string {
  const { shift_id: id } = params as { shift_id: string }
  if (!isShiftId(id)) throw notFound()
  return id
}

function toTriagedShift(shift: TriagedShift): ShiftBody {
  if (shift === null) throw notFound()
  if (shift === 'closed') throw new DomainError('conflict', shiftNotOpen)
  return toShiftBody(shift)
}

function toShiftBody(shift: ListedShift): ShiftBody {
  const { id, state, prompt, at, between, foundAt, rateBefore, rateAfter } = shift
  return {
    id,
    prompt: { id: prompt.publicId, name: prompt.name },
    state,
    at: isoTime(at),
    between: [isoTime(between[0]), isoTime(between[1])],
    found_at: isoTime(foundAt),
    rate_before: rateBefore,
    rate_after: rateAfter,
    cause: toCauseBody(shift),
    candidates: toCandidatesBody(shift),
    explanation: explainShift(shift),
    repaired_at: timeOrNull(shift.repairedAt),
    ...toTriagedBody(shift, ownerOf({ ...shift, change: suspectOf(shift) })),
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
