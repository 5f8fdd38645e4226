import { setTimeout as pause } from 'node:timers/promises'
import { removeOldSignals } from '../../../server/src/domain/signals/retention.ts'
import { inOrderOfStorage } from '../client.ts'
import type { Request } from '../request.ts'
import {
  type Action,
  admins,
  type Draw,
  deleters,
  firstKey,
  type Run,
  senders,
  someId,
  someKey,
  someOrganisation,
  somePromptId,
} from '../run.ts'
import { day, existingPrompts, iso, type Organisation, remaining, removeBefore } from '../state.ts'
import { votesInFlight } from './votes.ts'

const invalidBodies = [
  '',
  '[]',
  '{}',
  '{"value":"Positive"}',
  '{"value":"positive","metadata":[]}',
  '{"value":',
  'null',
]

function drawnBody(draw: Draw): string {
  if (draw.chance(0.05)) return draw.one(invalidBodies)
  const [user, number] = [`u-${draw.between(0, 5)}`, draw.between(-3, 1_000)]
  const metadata = draw.one([
    null,
    null,
    `{"user":"${user}"}`,
    // The same, escaped.
    `{ "user" : "\\u0075${user.slice(1)}" }`,
    `{"user":"${user}","number":${number},"tags":["a",{"b":null}]}`,
    `{"tags":{"b":[1,2],"a":"ü \\"quoted\\" 100 %_"},"number":${number}}`,
    '{}',
  ])
  const value = draw.chance(0.3) ? 'negative' : 'positive'
  return `{"value":"${value}"${metadata === null ? '' : `,"metadata":${metadata}`}}`
}

function someSignal(run: Run, draw: Draw, organisation: Organisation, key = firstKey(organisation)): Request {
  const path = `/prompts/${somePromptId(run, draw, organisation)}/signals`
  return { method: 'POST', path, key, body: drawnBody(draw) }
}

function withIdempotencyKey({ keyed }: Run, organisation: Organisation, request: Request) {
  const withKey = { ...request, idempotencyKey: `key-${keyed.length}` }
  keyed.push({ organisation, request: withKey })
  return withKey
}

export const record: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const request = someSignal(run, draw, organisation, someKey(run, draw, organisation, senders))
  if (draw.chance(0.02)) {
    await run.send({ ...request, idempotencyKey: draw.one(['with space', 'x'.repeat(256)]) })
  } else await run.send(draw.chance(0.4) ? withIdempotencyKey(run, organisation, request) : request)
}

/** Repeats an earlier request, sometimes with another body, for another prompt or from another organisation. */
export const repeat: Action = async (run, draw) => {
  if (run.keyed.length === 0) return
  const { organisation, request } = draw.one(draw.chance(0.5) ? run.keyed : run.keyed.slice(-50))
  const { idempotencyKey } = request
  const other = someSignal(run, draw, someOrganisation(run, draw))
  const changes = [{ body: drawnBody(draw) }, { path: other.path }]
  if (draw.chance(0.03)) await run.send({ ...other, idempotencyKey })
  else await run.send({ ...request, key: firstKey(organisation), ...(draw.chance(0.2) && draw.one(changes)) })
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
  const left = (organisation: Organisation) => Math.max(0, remaining(organisation, service.now))
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
  const others = Array.from({ length: draw.between(2, 8) }, () => (sameBody ? {} : { body: drawnBody(draw) }))
  await run.sendTogether([request, ...others.map((other) => ({ ...request, ...other }))])
}

/** The service crashes with requests in flight. Each is repeated until it gets a response, as docs/api.md says. */
export const crashInFlight: Action = async (run, draw) => {
  const { service } = run
  const organisation = someOrganisation(run, draw)
  const signals = Array.from({ length: draw.between(5, 60) }, () => someSignal(run, draw, organisation))
  const requests = [...signals, ...votesInFlight(run, draw, organisation)].map((request) =>
    withIdempotencyKey(run, organisation, request),
  )
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
  const { id, signals } = draw.one(existingPrompts(organisation))
  const path = `/prompts/${id}/signals/${someId(draw, signals)}`
  return { method: 'DELETE', path, key: someKey(run, draw, organisation, deleters) }
}

export const deleteSignal: Action = (run, draw) => run.send(someDeletion(run, draw))

export const deleteTogether: Action = (run, draw) => run.sendTogether(Array(4).fill(someDeletion(run, draw)))

export const erase: Action = async (run, draw) => {
  const user = `u-${draw.between(0, 5)}`
  const metadata = draw.one([
    `{"user":"${user}"}`,
    `{"user":"${user}"}`,
    `{"user":"${user}","tags":["a",{"b":null}]}`,
    `{"number":${draw.between(0, 1_000)}.0}`,
    '{}',
    '[]',
  ])
  const key = someKey(run, draw, someOrganisation(run, draw), admins)
  await run.send({ method: 'POST', path: '/signals/erase', key, body: `{"metadata":${metadata}}` })
}

export const removeOld: Action = async ({ model, service, retentionDays }) => {
  if (retentionDays === null) return
  await removeOldSignals(service.store.signals, retentionDays, service.now)
  removeBefore(model, service.now - retentionDays * day)
}
