import { operator } from '../../../server/src/domain/access/audit.ts'
import type { Request } from '../model/request.ts'
import { type Organisation, works } from '../model/state.ts'
import { day, hour, iso } from '../model/time.ts'
import { changePlan, storeUses } from '../model.ts'
import { admins, everybody, keeperOf, someKey, someOrganisation, type Year } from './choice.ts'

export async function setPlan(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  const plan = year.chance.one(['free', 'free', 'team', 'business'] as const)
  await changeInUse(year, keeperOf(organisation), async () => {
    await year.service().store.organisations.setPlan(organisation.id, plan, year.now(), operator)
    changePlan(organisation, plan, year.now())
  })
}

export async function createKey(year: Year): Promise<void> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const terms = {
    name: chance.one(['bot', 'Ada', 'ключ', 'a "quoted" one']),
    ...(chance.happens(0.9) && { role: chance.one([...everybody, ...(chance.happens(0.1) ? ['root'] : [])]) }),
    ...(chance.happens(0.5) && {
      expires_at: iso(year.now() + chance.one([-1, 0, 1, 500, hour, chance.between(1, 60) * day])),
    }),
  }
  const body = JSON.stringify(terms)
  await year.ask({ method: 'POST', path: '/keys', key: someKey(year, organisation, admins), body })
}

/** Any but the one that stays, mostly one that works; what to ask for may be none at all. */
function someOtherKey(year: Year, { keys }: Organisation): { id: number; secret: string } {
  const { chance } = year
  const others = keys.slice(1)
  const working = others.filter((key) => works(key, year.now()))
  if (others.length === 0 || chance.happens(0.03)) return { id: 999_999, secret: 'plk_nothing' }
  return chance.one(working.length > 0 && chance.happens(0.8) ? working : others)
}

/** Changes a key that was in use a moment ago and is used again at once. */
async function changeInUse(year: Year, key: string, change: () => Promise<unknown>): Promise<void> {
  await year.ask({ method: 'GET', path: '/usage', key })
  await change()
  await year.ask({ method: 'GET', path: '/usage', key })
}

export async function rotateKey(year: Year): Promise<void> {
  const { chance } = year
  const organisation = someOrganisation(year)
  const { id, secret } = someOtherKey(year, organisation)
  const request: Request = {
    method: 'POST',
    path: `/keys/${id}/rotate`,
    key: someKey(year, organisation, admins),
  }
  const overlap = chance.one([0, 1, 48, 24 * 30, 8_760, 8_761, -1])
  const body = chance.happens(0.3) ? {} : { body: JSON.stringify({ overlap_hours: overlap }) }
  await changeInUse(year, secret, () => year.ask({ ...request, ...body }))
}

/** Without an overlap, so that only one of them can be the first. */
export async function rotateTogether(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  const { id, secret } = someOtherKey(year, organisation)
  const path = `/keys/${id}/rotate`
  const request: Request = { method: 'POST', path, key: keeperOf(organisation), body: '{"overlap_hours":0}' }
  await changeInUse(year, secret, () => year.askTogether([request, request, request]))
}

export async function revokeKey(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  const { id, secret } = someOtherKey(year, organisation)
  const request: Request = { method: 'DELETE', path: `/keys/${id}`, key: someKey(year, organisation, admins) }
  await changeInUse(year, secret, () => year.ask(request))
}

export async function signIn(year: Year): Promise<void> {
  const organisation = someOrganisation(year)
  await year.ask({ method: 'POST', path: '/session', key: someKey(year, organisation, everybody) })
}

export async function useSession(year: Year): Promise<void> {
  const { model, chance } = year
  const tokens = [...model.sessions.keys()]
  const token = tokens.length === 0 || chance.happens(0.05) ? 'nothing' : chance.one(tokens.slice(-20))
  const method = chance.happens(0.15) ? 'DELETE' : 'GET'
  await year.ask({
    method,
    path: method === 'DELETE' ? '/session' : chance.one(['/session', '/usage', '/keys']),
    token,
  })
}

export async function flushUses(year: Year): Promise<void> {
  await year.service().flushUses()
  storeUses(year.model)
}
