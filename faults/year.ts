import { issueKey } from '../server/src/domain/access/api-key.ts'
import { operator } from '../server/src/domain/access/audit.ts'
import { newOrganisation } from '../server/src/domain/access/organisation.ts'
import { newPrompt } from '../server/src/domain/prompt.ts'
import type { Fault, Trial } from './fault.ts'
import { type Service, startService } from './service.ts'
import type { Year } from './year/acts/choice.ts'
import { actsOf, readAll } from './year/acts.ts'
import { newChance } from './year/chance.ts'
import { newConversation } from './year/conversation.ts'
import { audit, newModel, type Plan } from './year/model/state.ts'
import { iso, resetOf } from './year/model/time.ts'
import { storeUses } from './year/model.ts'

const second = 1_000
const hour = 3_600 * second
const day = 24 * hour
const begin = Date.parse('2027-06-15T12:00:00.000Z')
const leapDay = Date.UTC(2028, 1, 29)
const length = 366 * day
const plans: Plan[] = ['free', 'free', 'free', 'team', 'business']

/** Twelve months of whatever people do; every answer is compared with that of a model. `times` counts steps. */
export const year: Fault = {
  name: 'year',
  title: 'twelve simulated months beside a model',
  engines: ['sqlite', 'postgres'],
  times: { full: 20_000, short: 800 },
  async run(trial) {
    const { times, random, engine } = trial
    const chance = newChance(random)
    const model = newModel(engine)
    let now = begin
    let step = 0
    let restarts = 0
    let service = await startService(trial, () => now)
    const where = () => `step ${step}, at ${iso(now)}`
    const conversation = newConversation(model, { port: () => service.port, now: () => now, where })

    async function restart(end: (service: Service) => Promise<void>): Promise<void> {
      await end(service)
      service = await startService(trial, () => now)
      restarts++
    }

    const simulated: Year = {
      model,
      chance,
      // In half of the years signals are removed after a while.
      keepFor: chance.happens(0.5) ? chance.between(20, 120) * day : null,
      keyed: [],
      now: () => now,
      service: () => service,
      wait: (milliseconds) => {
        now += milliseconds
      },
      restart: async () => {
        await restart((service) => service.stop())
        storeUses(model)
      },
      cut: async () => {
        await restart((service) => service.cut())
      },
      ...conversation,
    }
    try {
      for (let i = 0; i < 20; i++) await found(simulated, `Organisation ${i}`, plans[i % plans.length] as Plan)
      const acts = actsOf(times)
      for (step = 1; step <= times; step++) {
        now = next(now, trial)
        await chance.weighted(acts).act(simulated)
      }
      await readAll(simulated, begin)
    } finally {
      await service.stop()
      conversation.end()
    }
    const { keepFor } = simulated
    const days = Math.round((now - begin) / day)
    return {
      tried: `${times} steps in ${days} days`,
      ...conversation.figures,
      restarts,
      'signals kept, days': keepFor === null ? 'all' : keepFor / day,
    }
  },
}

/** The next time that something happens: often within a second, and never past a month's end or a leap day without stopping there. */
function next(now: number, { times, random }: Trial): number {
  const to = now + 1 + Math.floor(random() < 0.5 ? random() * second : (random() * 4.2 * length) / times)
  const end = [resetOf(now), leapDay].find((end) => now < end && end <= to)
  if (end !== undefined) return now < end - 1 ? end - 1 : end
  const full = to - (to % hour)
  return full - 1 > now && random() < 0.3 ? full - Math.round(random()) : to
}

/** An organisation with what the operator gives it. */
async function found({ model, service, now }: Year, name: string, plan: Plan): Promise<void> {
  const { organisations, keys, prompts } = service().store
  const at = now()
  const { id } = await organisations.create(newOrganisation(name, plan, at))
  const terms = { name: 'first', role: 'admin' as const, createdAt: at, expiresAt: null }
  const issued = await issueKey(keys, { organisationId: id, ...terms }, operator)
  const prompt = await prompts.create(newPrompt(id, 'first prompt', at), operator)
  const key = { id: issued.key.id, secret: issued.secret, ...terms, revokedAt: null, lastUsedAt: null, notedAt: null }
  const organisation = {
    id,
    name,
    plan,
    keys: [key],
    prompts: [{ id: prompt.publicId, name: prompt.name, createdAt: at, deleted: false, signals: [], entries: [] }],
    used: new Map(),
    idempotency: new Map(),
    audit: [],
  }
  model.organisations.push(organisation)
  audit(organisation, null, at, 'key.created', key.id, key.name, { role: key.role })
  audit(organisation, null, at, 'prompt.created', prompt.publicId, prompt.name)
}
