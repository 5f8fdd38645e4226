import { setTimeout as pause } from 'node:timers/promises'
import { inOrderOfStorage } from '../client.ts'
import type { Request } from '../request.ts'
import {
  type Action,
  type Draw,
  firstKey,
  type Run,
  someKey,
  someOrganisation,
  somePromptId,
  withIdempotencyKey,
} from '../run.ts'
import { day, iso, type Organisation, remaining } from '../state.ts'
import type { SentSignal } from '../votes.ts'

const subjects = ['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']
const invalidFields = [{ value: 'Positive' }, { occurred_at: '2020-01-01T00:00:00.000Z' }]

/** A signal, or a vote on a subject that may have been voted on before. */
function someFields({ model, service: { now } }: Run, draw: Draw, subject: string | null): SentSignal {
  // Signals in a time that retention has removed have a test of their own.
  const occurredAt = Math.max(now - draw.between(0, 40 * day), model.retainedSince, now - 30 * day)
  const user = `u-${draw.between(0, 5)}`
  const metadata = draw.one([{ user }, { user, number: draw.between(-3, 1_000), tags: ['a', { b: null }] }, {}])
  return {
    value: draw.one(['positive', 'positive', 'negative', ...(subject === null ? [] : [null])]),
    ...(subject !== null && { subject }),
    ...(draw.chance(0.5) && { metadata }),
    ...(draw.chance(0.3) && { version: draw.one(['c0ffee1', 'c0ffee2'.padEnd(40, '0'), 770_000]) }),
    ...(draw.chance(0.3) && { voter: `voter-${draw.between(0, 3)}` }),
    ...(draw.chance(0.2) && occurredAt <= now && { occurred_at: iso(occurredAt) }),
    ...(draw.chance(0.04) && draw.one(invalidFields as object[])),
  }
}

/** Without a subject, so that the order of concurrent ones does not matter. */
function someSignal(run: Run, draw: Draw, organisation: Organisation, fields = someFields(run, draw, null)): Request {
  const path = `/prompts/${somePromptId(run, draw, organisation)}/signals`
  return { method: 'POST', path, key: firstKey(organisation), body: JSON.stringify(fields) }
}

const recordOn = (someSubject: (draw: Draw) => string | null): Action => {
  return async (run, draw) => {
    const organisation = someOrganisation(run, draw)
    const signal = someSignal(run, draw, organisation, someFields(run, draw, someSubject(draw)))
    const request = { ...signal, key: someKey(run, draw, organisation) }
    await run.send(draw.chance(0.4) ? withIdempotencyKey(run, organisation, request) : request)
  }
}

export const record = recordOn(() => null)
export const vote = recordOn((draw) => draw.one(subjects))

/** Signals with and without a subject, some of them on the same one and some invalid. Sometimes sent again as it is. */
export const recordBatch: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const signals = Array.from({ length: draw.between(1, 40) }, () => ({
    prompt: somePromptId(run, draw, organisation),
    ...someFields(run, draw, draw.chance(0.5) ? draw.one(subjects) : null),
    ...(draw.chance(0.4) && { idempotency_key: run.freshName() }),
  }))
  const key = someKey(run, draw, organisation)
  const request: Request = { method: 'POST', path: '/signals', key, body: JSON.stringify({ signals }) }
  await run.send(request)
  if (draw.chance(0.3)) await run.send(request)
}

/** Repeats an earlier request, sometimes with another body, for another prompt or from another organisation. */
export const repeat: Action = async (run, draw) => {
  if (run.keyed.length === 0) return
  const { organisation, request } = draw.one(draw.chance(0.5) ? run.keyed : run.keyed.slice(-50))
  const { idempotencyKey } = request
  const other = someSignal(run, draw, someOrganisation(run, draw))
  const { body = '', path } = other
  if (draw.chance(0.03)) await run.send({ ...other, idempotencyKey })
  else
    await run.send({ ...request, key: firstKey(organisation), ...(draw.chance(0.2) && draw.one([{ body }, { path }])) })
}

function someBatch(run: Run, draw: Draw, organisation: Organisation, count: number): Request[] {
  const requests = Array.from({ length: count }, (_, i) => {
    const request = someSignal(run, draw, organisation)
    return i % 3 === 0 ? withIdempotencyKey(run, organisation, request) : request
  })
  // Some of those with a key are sent twice.
  return [...requests, ...requests.filter((_, i) => i % 15 === 0)]
}

export const recordMany: Action = async (run, draw) => {
  await run.sendTogether(someBatch(run, draw, draw.one(run.model.organisations), draw.between(50, 250)))
}

/** Records signals until an organisation has reached its limit for the month, and some more. */
export const reachLimit: Action = async (run, draw) => {
  const { model, service } = run
  const left = (organisation: Organisation) => remaining(organisation, service.now)
  const free = model.organisations.filter(({ plan }) => plan === 'free')
  const [nearest] = free.sort((a, b) => left(a) - left(b))
  if (nearest === undefined) return
  for (let isFull = false; !isFull; service.now += draw.between(0, 2)) {
    isFull = left(nearest) === 0
    // Some of the bodies are invalid.
    const count = Math.ceil(left(nearest) * 1.2) + draw.between(1, 20)
    await run.sendTogether(someBatch(run, draw, nearest, Math.min(count, 400)))
  }
}

/** Sends the same idempotency key many times at once, with one body or several. */
export const repeatTogether: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const request = withIdempotencyKey(run, organisation, someSignal(run, draw, organisation))
  const sameBody = draw.chance(0.6)
  const others = Array.from({ length: draw.between(2, 8) }, () => {
    return sameBody ? request : { ...request, body: JSON.stringify(someFields(run, draw, null)) }
  })
  await run.sendTogether([request, ...others])
}

/** The service crashes with requests in flight. Each is repeated until it gets a response, as docs/api.md says. */
export const crashInFlight: Action = async (run, draw) => {
  const { service } = run
  const organisation = someOrganisation(run, draw)
  // Each vote is on a subject of its own, because only then does their order not matter.
  const prompt = draw.one(organisation.prompts)
  const fresh = Array.from({ length: draw.between(0, 8) }, run.freshName)
  const requests = [...Array<null>(draw.between(5, 60)).fill(null), ...subjects, ...fresh].map((subject) => {
    // Its time could be too long ago once it is repeated.
    const { occurred_at: _, ...fields } = someFields(run, draw, subject)
    const path = `/prompts/${prompt.id}/signals`
    return withIdempotencyKey(run, organisation, { ...someSignal(run, draw, organisation, fields), path })
  })
  const before = service.now
  const first = requests.map((request) => run.sendOnly(request))
  await pause(draw.between(0, 6))
  await run.crash()
  const early = await Promise.all(first)
  service.now += draw.between(1, 5_000)
  const late = await Promise.all(requests.map((request) => run.sendOnly(request)))
  const answered = requests.map((request, i) => {
    const response = late[i]
    if (response == null) throw new Error('no response from a service that has just started')
    const [one, other] = [early[i], response].map((each) => JSON.stringify(each?.body))
    if ((early[i]?.status ?? 500) <= 201 && one !== other)
      throw new Error(`${request.body} got ${one}, and repeated ${other}`)
    return { request, response }
  })
  const stored = inOrderOfStorage(answered)
  const createdAt = (body: unknown) => (body as { data?: { created_at: string } }).data?.created_at
  for (const { request, response } of stored.filter(({ response }) => createdAt(response.body) === iso(before))) {
    run.compare(request, response, before, ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
  }
  for (const { request, response } of stored) run.compare(request, response, service.now, ['ratelimit-remaining'])
}

function someDeletion(run: Run, draw: Draw): Request {
  const organisation = someOrganisation(run, draw)
  const { id, signals } = draw.one(organisation.prompts)
  const signalId = signals.length === 0 || draw.chance(0.05) ? 90_000_000 : draw.one(signals).id
  const path = `/prompts/${id}/signals/${signalId}`
  return { method: 'DELETE', path, key: someKey(run, draw, organisation) }
}

export const deleteSignal: Action = (run, draw) => run.send(someDeletion(run, draw))

export const deleteTogether: Action = (run, draw) => run.sendTogether(Array(4).fill(someDeletion(run, draw)))

/** Of a user, by metadata or as the voter, or of a subject. */
export const erase: Action = async (run, draw) => {
  const user = `u-${draw.between(0, 5)}`
  const body = draw.one([
    `{"metadata":{"user":"${user}"}}`,
    `{"metadata":{"user":"${user}","tags":["a",{"b":null}]}}`,
    `{"metadata":{"number":${draw.between(0, 1_000)}.0}}`,
    `{"voter":"voter-${draw.between(0, 3)}"}`,
    `{"subject":"${draw.one(subjects)}"}`,
  ])
  const key = someKey(run, draw, someOrganisation(run, draw))
  await run.send({ method: 'POST', path: '/signals/erase', key, body })
}
