import type { Request } from '../request.ts'
import {
  type Action,
  admins,
  type Draw,
  firstKey,
  type Run,
  senders,
  someKey,
  someOrganisation,
  somePromptId,
} from '../run.ts'
import { day, existingPrompts, iso, type Organisation } from '../state.ts'

const subjects = ['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']
const invalidFields = [
  { subject: '' },
  { subject: 'a\u0000b' },
  { voter: 7 },
  { version: 'main' },
  { version: 0 },
  { occurred_at: 'yesterday' },
  { occurred_at: '2020-01-01T00:00:00.000Z' },
  { comment: 'x'.repeat(2_001) },
]

/** The fields of a vote. A subject may have been voted on before. */
export function someVote(run: Run, draw: Draw, organisation: Organisation, subject: string | null): object {
  // On the given subject: two votes on one in flight could be stored in either order.
  if (draw.chance(0.04)) return { value: 'positive', subject: subject ?? 's0', ...draw.one(invalidFields) }
  const { entries } = draw.one(existingPrompts(organisation))
  const versions = ['c0ffee1', 'C0FFEE2'.padEnd(40, '0'), 770_000, ...entries.map(({ id }) => id)]
  // Signals in a time that retention has removed have a test of their own.
  const earliest = Math.max(run.model.retainedSince, run.service.now - 30 * day)
  const occurredAt = Math.max(run.service.now - draw.between(0, 40 * day), earliest)
  const metadata = { user: `u-${draw.between(0, 5)}`, ...(draw.chance(0.2) && { 'gen_ai.prompt.version': 'v2' }) }
  return {
    value: draw.one(['positive', 'positive', 'negative', ...(subject === null ? [] : [null])]),
    ...(subject !== null && { subject }),
    ...(draw.chance(0.4) && { version: draw.one(versions) }),
    ...(draw.chance(0.3) && { voter: `voter-${draw.between(0, 3)}` }),
    ...(draw.chance(0.3) && { comment: draw.one(['good', 'Too slow.\nReally.', '']) }),
    ...(draw.chance(0.3) && occurredAt <= run.service.now && { occurred_at: iso(occurredAt) }),
    ...(draw.chance(0.5) && { metadata }),
  }
}

export const vote: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const subject = draw.chance(0.1) ? null : draw.one(subjects)
  const request: Request = {
    method: 'POST',
    path: `/prompts/${somePromptId(run, draw, organisation)}/signals`,
    key: someKey(run, draw, organisation, senders),
    body: JSON.stringify(someVote(run, draw, organisation, subject)),
  }
  if (!draw.chance(0.3)) return run.send(request)
  const idempotencyKey = `key-${run.keyed.length}`
  run.keyed.push({ organisation, request: { ...request, idempotencyKey } })
  await run.send({ ...request, idempotencyKey })
}

/** Signals with and without a subject, some of them on the same one and some invalid. Sometimes sent again as it is. */
export const recordBatch: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const prompts = existingPrompts(organisation).map(({ id, name }) => draw.one([id, id, name]))
  const signals = Array.from({ length: draw.between(1, 40) }, () => {
    if (draw.chance(0.03)) return { prompt: 'pmt_unknown', value: 'positive', subject: 's0' }
    const prompt = draw.one(prompts)
    if (draw.chance(0.03)) return draw.one([{ prompt, value: 'good' }, { value: 'positive' }, 7])
    const fields = someVote(run, draw, organisation, draw.chance(0.5) ? null : draw.one(subjects))
    if (!draw.chance(0.4)) return { prompt, ...fields }
    return { prompt, ...fields, idempotency_key: `item-${run.model.batchKeys++}` }
  })
  const key = someKey(run, draw, organisation, senders)
  const request: Request = { method: 'POST', path: '/signals', key, body: JSON.stringify({ signals }) }
  await run.send(request)
  if (draw.chance(0.3)) await run.send(request)
}

export const eraseVoter: Action = async (run, draw) => {
  const body = draw.chance(0.5) ? { voter: `voter-${draw.between(0, 3)}` } : { subject: draw.one(subjects) }
  const key = someKey(run, draw, someOrganisation(run, draw), admins)
  await run.send({ method: 'POST', path: '/signals/erase', key, body: JSON.stringify(body) })
}

/** Votes for a crash: each on a subject of its own, because only then does their order not matter. */
export function votesInFlight(run: Run, draw: Draw, organisation: Organisation): Request[] {
  const [prompt] = existingPrompts(organisation)
  if (prompt === undefined) return []
  const fresh = Array.from({ length: draw.between(0, 8) }, () => `fresh-${run.model.batchKeys++}`)
  return [...subjects, ...fresh].map((subject) => {
    const { occurred_at: _, ...fields } = someVote(run, draw, organisation, subject) as { occurred_at?: string }
    const path = `/prompts/${prompt.id}/signals`
    return { method: 'POST', path, key: firstKey(organisation), body: JSON.stringify(fields) }
  })
}
