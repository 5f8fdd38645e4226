import { operator } from '../../../server/src/domain/access/audit.ts'
import { audit } from '../audit.ts'
import type { Request } from '../request.ts'
import { type Action, admins, type Draw, firstKey, type Run, readers, someKey, someOrganisation } from '../run.ts'
import { day, hour, isActive, iso, type Organisation, type Role } from '../state.ts'

/** Changes a key that was in use a moment ago and is used again at once, so that a stale cache shows. */
async function whileInUse(run: Run, key: string, change: () => Promise<void>): Promise<void> {
  await run.send({ method: 'GET', path: '/usage', key })
  await change()
  await run.send({ method: 'GET', path: '/usage', key })
}

export const setPlan: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const plan = draw.one(['free', 'free', 'team', 'business'] as const)
  const { store, now } = run.service
  await whileInUse(run, firstKey(organisation), async () => {
    await store.organisations.setPlan(organisation.id, plan, now, operator)
    const { plan: from } = organisation
    if (plan === from) return
    const details = { from, to: plan }
    audit({ organisation, key: null, action: 'organisation.plan_changed', subject: organisation, details }, now)
    organisation.plan = plan
  })
}

const roles: Role[] = ['ingest', 'recorder', 'reader', 'standard', 'admin']
const globs = ['**', '*', 'prompts/**', 'prompts/*', 'prompts/support/**', '**/a.md', 'first prompt', 'prompts/?.md']
const invalidGlobs = ['', '*'.repeat(23)]

export const createKey: Action = async (run, draw) => {
  const lifetimes = [-1, 0, 1, 500, hour, draw.between(1, 60) * day]
  const terms = {
    name: draw.one(['bot', 'Ada', 'ключ', 'a "quoted" one']),
    ...(draw.chance(0.9) && { role: draw.one([...roles, ...(draw.chance(0.1) ? ['root'] : [])]) }),
    ...(draw.chance(0.4) && { prompts: draw.one(draw.chance(0.05) ? invalidGlobs : globs) }),
    ...(draw.chance(0.5) && { expires_at: iso(run.service.now + draw.one(lifetimes)) }),
  }
  const key = someKey(run, draw, someOrganisation(run, draw), admins)
  await run.send({ method: 'POST', path: '/keys', key, body: JSON.stringify(terms) })
}

/** Any key but the organisation's first, mostly an active one, sometimes an unknown one. */
function someOtherKey({ service }: Run, draw: Draw, { keys }: Organisation): { id: number; secret: string } {
  const others = keys.slice(1)
  const active = others.filter((key) => isActive(key, service.now))
  if (others.length === 0 || draw.chance(0.03)) return { id: 999_999, secret: 'plk_unknown' }
  return draw.one(active.length === 0 || draw.chance(0.2) ? others : active)
}

/** Starts a session, or reads or ends one. */
export const useSession: Action = async (run, draw) => {
  const key = someKey(run, draw, someOrganisation(run, draw), readers)
  await run.send({ method: draw.one(['POST', 'POST', 'POST', 'GET', 'GET', 'DELETE']), path: '/session', key })
}

export const rotateKey: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const { id, secret } = someOtherKey(run, draw, organisation)
  const overlap = draw.one([0, 1, 48, 24 * 30, 8_760, 8_761, -1])
  const body = draw.chance(0.3) ? {} : { body: JSON.stringify({ overlap_hours: overlap }) }
  const key = someKey(run, draw, organisation, admins)
  await whileInUse(run, secret, () => run.send({ method: 'POST', path: `/keys/${id}/rotate`, key, ...body }))
}

/** Without an overlap, only one of several concurrent rotations can succeed. */
export const rotateTogether: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const { id, secret } = someOtherKey(run, draw, organisation)
  const path = `/keys/${id}/rotate`
  const request: Request = { method: 'POST', path, key: firstKey(organisation), body: '{"overlap_hours":0}' }
  await whileInUse(run, secret, () => run.sendTogether([request, request, request]))
}

export const revokeKey: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const { id, secret } = someOtherKey(run, draw, organisation)
  const key = someKey(run, draw, organisation, admins)
  await whileInUse(run, secret, () => run.send({ method: 'DELETE', path: `/keys/${id}`, key }))
}
