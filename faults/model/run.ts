import fc, { type GeneratorValue } from 'fast-check'
import type { TestService } from '../../testing/service.ts'
import type { ComparingClient } from './client.ts'
import type { Request } from './request.ts'
import { day, hour, isActive, iso, type Model, nextMonth, type Organisation } from './state.ts'

/** A service beside a model, and the means to act on both. */
export interface Run extends ComparingClient {
  model: Model
  service: TestService
  /** Null keeps signals forever. */
  retentionDays: number | null
  /** Every request that was sent with an idempotency key. */
  keyed: { organisation: Organisation; request: KeyedRequest }[]
  /** A name that was not drawn before, for an idempotency key or a subject. */
  freshName(): string
  restart(): Promise<void>
  /** Restarts without an orderly stop, whatever is in flight. */
  crash(): Promise<void>
}

type KeyedRequest = Request & { idempotencyKey: string }

/** Random choices of one action, which fast-check prints and shrinks. */
export interface Draw {
  /** Whether something of this probability happens. */
  chance(probability: number): boolean
  between(min: number, max: number): number
  one<Item>(items: readonly Item[]): Item
}

export function drawFrom(generate: GeneratorValue): Draw {
  const between = (min: number, max: number) => generate(fc.integer, { min, max })
  return {
    between,
    // The smallest number, to which fast-check shrinks, stands for the usual case.
    chance: (probability) => between(0, 999) >= 1_000 * (1 - probability),
    one: <Item>(items: readonly Item[]) => items[between(0, items.length - 1)] as Item,
  }
}

export type Action = (run: Run, draw: Draw) => Promise<void>

/** Some organisations are busier than others. */
export function someOrganisation({ model: { organisations } }: Run, draw: Draw): Organisation {
  return draw.one(draw.chance(0.3) ? organisations : organisations.slice(0, 3))
}

/** Mostly an active key; sometimes any of the organisation's, an unknown one, or another organisation's. */
export function someKey({ model, service }: Run, draw: Draw, { keys }: Organisation): string {
  if (draw.chance(0.04)) return draw.one(keys).secret
  if (draw.chance(0.01)) return draw.one(['', 'plk_unknown', firstKey(draw.one(model.organisations))])
  return draw.one(keys.filter((key) => isActive(key, service.now))).secret
}

/** The key that every organisation has from the start, and that is never revoked. */
export function firstKey({ keys }: Organisation): string {
  return keys[0]?.secret ?? ''
}

/** Mostly the ID of a prompt; sometimes of another organisation's, or of none. */
export function somePromptId({ model }: Run, draw: Draw, { prompts }: Organisation): string {
  if (draw.chance(0.02)) return draw.one(['pmt_unknown', draw.one(draw.one(model.organisations).prompts).id])
  return draw.one(prompts).id
}

/** A time around now, around a boundary or around a signal. */
export function someTime({ model, service: { now } }: Run, draw: Draw): string {
  const { signals } = draw.one(draw.one(model.organisations).prompts)
  return iso(
    draw.one([
      now - draw.between(0, 90 * day),
      now - draw.between(0, 2 * hour),
      now - (now % hour),
      nextMonth(now - draw.between(32, 90) * day),
      now + draw.between(0, day),
      (signals.length === 0 ? now : draw.one(signals).occurredAt) + draw.between(0, 1),
    ]),
  )
}

/** Adds an idempotency key, with which the request can be repeated later. */
export function withIdempotencyKey(run: Run, organisation: Organisation, request: Request): KeyedRequest {
  const withKey = { ...request, idempotencyKey: run.freshName() }
  run.keyed.push({ organisation, request: withKey })
  return withKey
}
