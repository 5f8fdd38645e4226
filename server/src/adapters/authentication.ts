import { type Instant, minute } from '../domain/time.ts'
import { isKnownToken, isSignedWith } from '../forges/webhook-signature.ts'
import type { Authentication } from './adapter.ts'

export type Headers = Record<string, string | string[] | undefined>

// As Slack and Zendesk recommend: an older request was recorded by someone.
const maxAgeMs = 5 * minute

/** Why the request does not come from the holder of the secret. Null if it does. */
export function authenticationProblem(
  authentication: Authentication,
  secret: string,
  headers: Headers,
  body: Buffer,
  now: Instant,
): string | null {
  if (authentication.kind === 'none') return 'the source is polled, and accepts no requests'
  if (authentication.kind === 'bearer') {
    const [, token = null] = /^bearer +(\S+)$/i.exec(textOf(headers, 'authorization') ?? '') ?? []
    if (token === null) return 'the header Authorization is missing: send "Bearer" and the secret'
    return isKnownToken([secret], token) ? null : 'the secret in the header Authorization is wrong'
  }
  const { header, prefix, algorithm, encoding, timestamp } = authentication
  const signature = textOf(headers, header)
  if (signature === null || !signature.startsWith(prefix)) return `the signature is missing: header ${header}`
  const time = timestamp === undefined ? '' : textOf(headers, timestamp.header)
  if (time === null) return `the time is missing: header ${timestamp?.header}`
  const signed = timestamp === undefined ? body : Buffer.concat([Buffer.from(timestamp.signed(time)), body])
  if (!isSignedWith([secret], signed, signature.slice(prefix.length), encoding, algorithm)) {
    return 'the signature does not match; check the secret of the sender'
  }
  if (timestamp !== undefined && !(Math.abs(now - instantOf(time)) <= maxAgeMs)) {
    return 'the request was signed more than 5 minutes ago, or the clocks differ'
  }
  return null
}

/** Seconds since 1970, or ISO 8601. */
function instantOf(time: string): Instant {
  return /^\d{1,12}$/.test(time) ? Number(time) * 1_000 : Date.parse(time)
}

function textOf(headers: Headers, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' ? value : null
}
