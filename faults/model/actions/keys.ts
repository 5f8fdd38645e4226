import type { Request } from '../request.ts'
import { type Action, type Draw, firstKey, type Run, someKey, someOrganisation } from '../run.ts'
import { day, hour, isActive, iso, type Organisation } from '../state.ts'

/** Changes a key that was in use a moment ago and is used again at once, so that a stale cache shows. */
export async function whileInUse(run: Run, key: string, change: () => Promise<void>): Promise<void> {
  await run.send({ method: 'GET', path: '/usage', key })
  await change()
  await run.send({ method: 'GET', path: '/usage', key })
}

export const createKey: Action = async (run, draw) => {
  const lifetimes = [-1, 0, 1, 500, hour, draw.between(1, 60) * day]
  const expiry = draw.chance(0.5) ? { expires_at: iso(run.service.now + draw.one(lifetimes)) } : {}
  const body = JSON.stringify({ name: 'bot', role: 'admin', ...expiry })
  await run.send({ method: 'POST', path: '/keys', key: someKey(run, draw, someOrganisation(run, draw)), body })
}

/** Any key but the organisation's first, mostly an active one, sometimes an unknown one. */
function someOtherKey({ service }: Run, draw: Draw, { keys }: Organisation): { id: number; secret: string } {
  const others = keys.slice(1)
  const active = others.filter((key) => isActive(key, service.now))
  if (others.length === 0 || draw.chance(0.03)) return { id: 999_999, secret: 'plk_unknown' }
  return draw.one(active.length === 0 || draw.chance(0.2) ? others : active)
}

export const rotateKey: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const { id, secret } = someOtherKey(run, draw, organisation)
  const overlap = draw.one([0, 1, 48, 24 * 30])
  const body = draw.chance(0.3) ? {} : { body: JSON.stringify({ overlap_hours: overlap }) }
  const key = someKey(run, draw, organisation)
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
  const key = someKey(run, draw, organisation)
  await whileInUse(run, secret, () => run.send({ method: 'DELETE', path: `/keys/${id}`, key }))
}
