import fc, { type GeneratorValue } from 'fast-check'
import type { TestService } from '../../testing/service.ts'
import type { ComparingClient } from './client.ts'
import type { Request } from './request.ts'
import {
  day,
  existingPrompts,
  hour,
  isActive,
  iso,
  type Key,
  type Model,
  nextMonth,
  type Organisation,
  type Role,
} from './state.ts'

/** A service beside a model, and the means to act on both. */
export interface Run extends ComparingClient {
  model: Model
  service: TestService
  /** Null keeps signals forever. */
  retentionDays: number | null
  /** Every request that was sent with an idempotency key. */
  keyed: { organisation: Organisation; request: Request & { idempotencyKey: string } }[]
  restart(): Promise<void>
  /** Restarts without an orderly stop, whatever is in flight. */
  crash(): Promise<void>
  /** Writes the audit entries of repeated events that are due, as a timer does otherwise. */
  flushAudit(): Promise<void>
}

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

export const senders: Role[] = ['ingest', 'standard', 'admin']
export const recorders: Role[] = ['recorder', 'admin']
export const readers: Role[] = ['reader', 'standard', 'admin']
export const deleters: Role[] = ['standard', 'admin']
export const admins: Role[] = ['admin']

/** Some organisations are busier than others. */
export function someOrganisation({ model: { organisations } }: Run, draw: Draw): Organisation {
  return draw.one(draw.chance(0.3) ? organisations : organisations.slice(0, 3))
}

/** Mostly a key or session that suffices; sometimes any of the organisation's, an unknown one, or another organisation's. */
export function someKey({ model, service }: Run, draw: Draw, organisation: Organisation, roles: Role[]): string {
  const { keys } = organisation
  const sessions = model.sessions.filter((session) => session.organisation === organisation)
  if (draw.chance(0.04)) return draw.one([...keys.map(({ secret }) => secret), ...sessions.map(({ cookie }) => cookie)])
  if (draw.chance(0.01)) return draw.one(['', 'plk_unknown', firstKey(draw.one(model.organisations))])
  const suffices = (key: Key) => isActive(key, service.now) && roles.includes(key.role)
  const sufficient = sessions.filter(({ key, ended }) => suffices(key) && !ended)
  if (sufficient.length > 0 && draw.chance(0.2)) return draw.one(sufficient).cookie
  return draw.one(keys.filter(suffices)).secret
}

/** The key that every organisation has from the start, and that is never revoked. */
export function firstKey({ keys }: Organisation): string {
  return keys[0]?.secret ?? ''
}

/** Mostly an existing prompt; sometimes a deleted one, another organisation's, or none. */
/** As in a path: an ID, or sometimes a name. */
export function somePromptId({ model }: Run, draw: Draw, organisation: Organisation): string {
  if (draw.chance(0.05)) return encodeURIComponent(draw.one(organisation.prompts).name)
  if (draw.chance(0.02)) return draw.one(organisation.prompts).id
  if (draw.chance(0.02)) {
    return draw.one(['pmt_', 'pmt_000000000000000000000000', '%', draw.one(draw.one(model.organisations).prompts).id])
  }
  return draw.one(existingPrompts(organisation)).id
}

/** The id of one of the items, or sometimes of none. */
export function someId(draw: Draw, items: { id: number }[]): number {
  return items.length === 0 || draw.chance(0.05) ? 90_000_000 : draw.one(items).id
}

/** A time around now, around a boundary or around a signal; sometimes malformed. */
export function someTime({ model, service: { now } }: Run, draw: Draw): string {
  if (draw.chance(0.02)) return 'yesterday'
  const { signals } = draw.one(draw.one(model.organisations).prompts)
  return iso(
    draw.one([
      now,
      now - draw.between(0, 90 * day),
      now - draw.between(0, 2 * hour),
      now - (now % hour),
      nextMonth(now - draw.between(32, 90) * day),
      now + draw.between(0, day),
      (signals.length === 0 ? now : draw.one(signals).createdAt) + draw.between(0, 1),
    ]),
  )
}
