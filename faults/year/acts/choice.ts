import type { Service } from '../../service.ts'
import type { Chance } from '../chance.ts'
import type { Conversation } from '../conversation.ts'
import type { Request } from '../model/request.ts'
import { type Model, type Organisation, type Prompt, type Role, works } from '../model/state.ts'
import { day, hour, iso, resetOf } from '../model/time.ts'

/** A year under way. */
export interface Year extends Conversation {
  model: Model
  chance: Chance
  /** Milliseconds; null where signals are kept for ever. */
  keepFor: number | null
  /** Requests that had an idempotency key, whatever became of them. */
  keyed: { organisation: Organisation; request: Request & { idempotencyKey: string } }[]
  now(): number
  service(): Service
  wait(milliseconds: number): void
  restart(): Promise<void>
  /** Without an orderly end: whatever is under way. */
  cut(): Promise<void>
}

export function someOrganisation({ model, chance }: Year): Organisation {
  // Some are busier than others.
  return chance.one(chance.happens(0.7) ? model.organisations.slice(0, 4) : model.organisations)
}

/** Mostly a key that works and may; now and then one that does not. */
export function someKey(year: Year, organisation: Organisation, roles: Role[]): string {
  const { model, chance } = year
  if (chance.happens(0.04)) return chance.one(organisation.keys).secret
  if (chance.happens(0.01))
    return chance.one(['', 'plk_nothing', chance.one(chance.one(model.organisations).keys).secret])
  const fitting = organisation.keys.filter((key) => works(key, year.now()) && roles.includes(key.role))
  return chance.one(fitting).secret
}

export const everybody: Role[] = ['ingest', 'standard', 'admin']
export const readers: Role[] = ['standard', 'admin']
export const admins: Role[] = ['admin']

export function living({ prompts }: Organisation): Prompt[] {
  return prompts.filter(({ deleted }) => !deleted)
}

/** Mostly one that is there; now and then one that was, or another's, or none at all. */
export function somePromptId({ model, chance }: Year, organisation: Organisation): string {
  if (chance.happens(0.02)) return chance.one(organisation.prompts).id
  if (chance.happens(0.02))
    return chance.one([
      'pmt_',
      'pmt_000000000000000000000000',
      '%',
      chance.one(chance.one(model.organisations).prompts).id,
    ])
  return chance.one(living(organisation)).id
}

export function someTime(year: Year): string {
  const { chance } = year
  const now = year.now()
  const at = chance.one([
    now,
    now - chance.between(0, 90 * day),
    now - chance.between(0, 2 * hour),
    now - (now % hour),
    resetOf(now - chance.between(32, 90) * day),
    now + chance.between(0, day),
    someSignalTime(year) ?? now,
  ])
  return chance.happens(0.02) ? 'yesterday' : iso(at)
}

// What is drawn does not depend on who was first among those who asked together, so that a seed always gives the same year.
function someSignalTime({ model, chance }: Year): number | undefined {
  const { signals } = chance.one(chance.one(model.organisations).prompts)
  const signal = chance.one(signals)
  const after = chance.between(0, 1)
  return signal && signal.createdAt + after
}

/** The id of one of them, or now and then of none. */
export function someId({ chance }: Year, items: { id: number }[]): number {
  const [item, other] = [chance.one(items), chance.between(0, 99_999)]
  return chance.happens(0.05) || item === undefined ? other : item.id
}

/** The key that every organisation has from the start and nobody takes away. */
export function keeperOf({ keys }: Organisation): string {
  return keys[0]?.secret ?? ''
}
