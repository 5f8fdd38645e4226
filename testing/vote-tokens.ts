import { createHmac } from 'node:crypto'
import { type IssuedKey, issueKey, type KeyDetails } from '../server/src/domain/access/api-key.ts'
import { operator } from '../server/src/domain/access/audit.ts'
import type { Tenant, TestService } from './service.ts'

/** The payload of a token, in the order in which clients write it. */
export interface Payload {
  k: string
  p: string
  v?: string | number
  s: string
  u?: string
  e: number
}

export function createSigningKey(
  { store, syncContext, now }: TestService,
  { organisation }: Pick<Tenant, 'organisation'>,
  details: Partial<KeyDetails> = {},
): Promise<IssuedKey> {
  const terms = { organisationId: organisation.id, name: 'pages', role: 'signing', createdAt: now } as const
  return issueKey(store.keys, { ...terms, expiresAt: null, ...details }, operator, syncContext.vault)
}

/** Signs any payload, also one that no client would sign. */
export function signPayload(signingKey: string, payload: unknown): string {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const signed = `plt_${Buffer.from(text).toString('base64url')}`
  return `${signed}.${createHmac('sha256', signingKey).update(signed).digest('base64url')}`
}

export function payloadFor(
  signingKey: string,
  { prompt }: Pick<Tenant, 'prompt'>,
  now: number,
  members: Partial<Payload> = {},
): Payload {
  const { v, s = 'answer-1', u, ...others } = members
  return {
    k: signingKey.split('_')[1] as string,
    p: prompt.publicId,
    ...(v !== undefined && { v }),
    s,
    ...(u !== undefined && { u }),
    e: Math.floor(now / 1_000) + 3_600,
    ...others,
  }
}
