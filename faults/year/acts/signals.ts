import { removeOldSignals } from '../../../server/src/domain/signals/retention.ts'
import type { Request } from '../model/request.ts'
import { type Organisation, roomOf } from '../model/state.ts'
import { day, iso } from '../model/time.ts'
import { loseUses, removeBefore } from '../model.ts'
import {
  admins,
  everybody,
  keeperOf,
  living,
  readers,
  someId,
  someKey,
  someOrganisation,
  somePromptId,
  type Year,
} from './choice.ts'

const users = Array.from({ length: 6 }, (_, i) => `u-${i}`)

function someMetadata({ chance }: Year): string | null {
  if (chance.happens(0.4)) return null
  const user = chance.one(users)
  const number = chance.between(-3, 1_000)
  return chance.one([
    `{"user":"${user}"}`,
    // The same in other letters.
    `{ "user" : "\\u0075${user.slice(1)}" }`,
    `{"user":"${user}","number":${number},"tags":["a",{"b":null}]}`,
    `{"tags":{"b":[1,2],"a":"ü \\"quoted\\" 100 %_"},"number":${number}}`,
    '{}',
  ])
}

export function signalBody(year: Year): string {
  const { chance } = year
  if (chance.happens(0.05)) {
    return chance.one([
      '',
      '[]',
      '{}',
      '{"value":"Positive"}',
      '{"value":"positive","metadata":[]}',
      '{"value":',
      'null',
    ])
  }
  const metadata = someMetadata(year)
  const value = chance.happens(0.7) ? 'positive' : 'negative'
  return `{"value":"${value}"${metadata === null ? '' : `,"metadata":${metadata}`}}`
}

function newSignal(year: Year, organisation: Organisation): Request {
  const path = `/prompts/${somePromptId(year, organisation)}/signals`
  return { method: 'POST', path, key: someKey(year, organisation, everybody), body: signalBody(year) }
}

function withKey(year: Year, organisation: Organisation, request: Request): Request & { idempotencyKey: string } {
  const keyed = { ...request, idempotencyKey: `key-${year.keyed.length}` }
  year.keyed.push({ organisation, request: keyed })
  return keyed
}

export async function recordOne(year: Year): Promise<unknown> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const request = newSignal(year, organisation)
  const how = chance.between(1, 100)
  if (how <= 50) return year.ask(request)
  if (how <= 78) return year.ask(withKey(year, organisation, request))
  if (how <= 80) return year.ask({ ...request, idempotencyKey: chance.one(['with space', 'x'.repeat(256)]) })
  // One that was sent before, sometimes with another body, for another prompt or by another organisation.
  if (year.keyed.length === 0) return
  const before = chance.one(chance.happens(0.5) ? year.keyed.slice(-50) : year.keyed)
  const key = someKey(year, before.organisation, everybody)
  if (how <= 94) return year.ask({ ...before.request, key })
  if (how <= 96) return year.ask({ ...before.request, key, body: signalBody(year) })
  if (how <= 98) return year.ask({ ...before.request, key, path: request.path })
  return year.ask({ ...request, idempotencyKey: before.request.idempotencyKey })
}

/** Hundreds at once. */
export async function burst(year: Year): Promise<void> {
  await recordTogether(year, year.chance.one(year.model.organisations), year.chance.between(50, 250))
}

/** As many as there is room for this month, and some more. */
export async function reachLimit(year: Year): Promise<void> {
  const { chance, model } = year
  const small = model.organisations.filter(({ plan }) => plan === 'free')
  if (small.length === 0) return
  // Mostly the nearest to it.
  const nearest = small.toSorted((a, b) => roomOf(a, year.now()) - roomOf(b, year.now()))
  const organisation = chance.happens(0.8) ? (nearest[0] as Organisation) : chance.one(small)
  for (let full = false; !full; year.wait(chance.between(0, 2))) {
    const room = Math.max(0, roomOf(organisation, year.now()))
    full = room === 0
    // Not all of them are in order.
    await recordTogether(year, organisation, Math.min(Math.ceil(room * 1.2) + chance.between(1, 20), 400))
  }
}

async function recordTogether(year: Year, organisation: Organisation, count: number): Promise<void> {
  const { chance } = year
  const key = keeperOf(organisation)
  const requests = Array.from({ length: count }, () => {
    const request = { ...newSignal(year, organisation), key }
    return chance.happens(0.3) ? withKey(year, organisation, request) : request
  })
  // Some of them twice.
  const again = requests.filter(({ idempotencyKey }) => idempotencyKey !== undefined && chance.happens(0.2))
  await year.askTogether([...requests, ...again])
}

/** The same request many times at once, or others with the same idempotency key. */
export async function repeatTogether(year: Year): Promise<void> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const request = { ...newSignal(year, organisation), key: keeperOf(organisation) }
  const keyed = withKey(year, organisation, request)
  const sameBody = chance.happens(0.6)
  const others = Array.from({ length: chance.between(2, 8) }, () =>
    sameBody ? keyed : { ...keyed, body: signalBody(year) },
  )
  await year.askTogether([keyed, ...others])
}

/** Requests are under way when the service ends. Each is repeated until somebody answers, as the interface tells. */
export async function cutShort(year: Year): Promise<void> {
  const { chance, model } = year
  const organisation = someOrganisation(year)
  const key = keeperOf(organisation)
  const requests = Array.from({ length: chance.between(5, 60) }, () => {
    return withKey(year, organisation, { ...newSignal(year, organisation), key })
  })
  const before = year.now()
  const first = requests.map((request) => year.send(request))
  await new Promise((resolve) => setTimeout(resolve, chance.between(0, 6)))
  await year.cut()
  const early = await Promise.all(first)
  year.wait(chance.between(1, 5_000))
  const late = await Promise.all(requests.map((request) => year.send(request)))
  const answers = requests.map((request, i) => {
    const answer = late[i]
    if (answer == null) throw new Error('no answer from a service that has just started')
    const { id, created_at } = (answer.body as { data?: { id: number; created_at: string } }).data ?? {
      id: 0,
      created_at: '',
    }
    return { request, answer, early: early[i] ?? null, id, wasBefore: created_at === iso(before) }
  })
  const inOrder = answers.sort((a, b) => a.answer.status - b.answer.status || a.id - b.id)
  for (const { request, answer } of inOrder.filter(({ wasBefore }) => wasBefore)) {
    year.compare(request, answer, before, ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
  }
  loseUses(model)
  for (const { request, answer } of inOrder) year.compare(request, answer, year.now(), ['ratelimit-remaining'])
  for (const { request, answer, early } of answers) {
    if (early?.status === 201 && JSON.stringify(early.body) !== JSON.stringify(answer.body)) {
      throw new Error(
        `${JSON.stringify(request)} was answered with ${JSON.stringify(early)}, then ${JSON.stringify(answer)}`,
      )
    }
  }
}

function someRetraction(year: Year): Request {
  const { chance } = year
  const organisation = someOrganisation(year)
  const prompt = chance.one(living(organisation))
  const id = someId(year, prompt.signals)
  const path = `/prompts/${prompt.id}/signals/${id}`
  return { method: 'DELETE', path, key: someKey(year, organisation, readers) }
}

export async function retract(year: Year): Promise<void> {
  await year.ask(someRetraction(year))
}

export async function retractTogether(year: Year): Promise<void> {
  await year.askTogether(Array(4).fill(someRetraction(year)))
}

export async function erase(year: Year): Promise<void> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const user = chance.one(users)
  const sought = chance.one([
    `{"user":"${user}"}`,
    `{"user":"${user}"}`,
    `{"user":"${user}","tags":["a",{"b":null}]}`,
    `{"number":${chance.between(0, 1_000)}.0}`,
    '{}',
    '[]',
  ])
  const key = someKey(year, organisation, admins)
  await year.ask({ method: 'POST', path: '/signals/erase', key, body: `{"metadata":${sought}}` })
}

export async function removeOld(year: Year): Promise<void> {
  const { keepFor, model } = year
  if (keepFor === null) return
  await removeOldSignals(year.service().store.signals, keepFor / day, year.now())
  removeBefore(model, year.now() - keepFor)
}
