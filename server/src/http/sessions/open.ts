import type { FastifyRequest } from 'fastify'
import type { Access } from '../../domain/access/api-key.ts'
import { startSession } from '../../domain/access/session.ts'
import type { Instant } from '../../domain/time.ts'
import type { Context } from '../context.ts'

/** Starts a session of a key and audits it. Returns its end and the Set-Cookie value, with a token that no page has seen before. */
export async function openSession(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  { headers, server }: FastifyRequest,
  { organisationId, keyId }: Pick<Access, 'organisationId' | 'keyId'>,
  endsBy: Instant | null,
): Promise<{ expiresAt: Instant; cookie: string }> {
  const now = clock()
  await server.auditThrottle.record({ organisationId, by: { keyId }, action: 'session.started', about: '' })
  const origin = { endsBy, client: headers['user-agent'] }
  const { token, expiresAt } = await startSession(store.sessions, { organisationId, keyId }, origin, now)
  return { expiresAt, cookie: server.cookies.session(token, expiresAt, now) }
}
