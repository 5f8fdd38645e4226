import { invalidField } from '../errors.ts'
import { validUnicode } from '../text.ts'
import { day, type Instant, minute, parseTime } from '../time.ts'
import type { SignalDetails } from './signal.ts'
import { labelledVersion, type VersionText, validVersion, versionMember } from './version.ts'

/** What a request says about a signal beyond its value, as sent. A missing field and null mean the same. */
export interface SentDetails {
  version?: string | number | null
  subject?: string | null
  voter?: string | null
  comment?: string | null
  occurredAt?: string | null
  /** The header `traceparent` of the request, of the W3C standard Trace Context. */
  traceparent?: string | null
  metadata?: object | null
}

/** Hashes voters of one organisation. */
export type HashVoter = (voter: string) => Promise<string>

/** In characters, like every length in the API: see `firstCharacters`. */
export const maxCommentLength = 2_000
/** How long after the fact a vote is accepted. */
const maxVoteAgeDays = 30
/** How far the clock of a client may be ahead. A time within it counts as now. */
export const maxClockSkewMs = minute

const control = /\p{Cc}/u
const traceContext = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
const zeros = /^0+$/

/** Validates the details of a signal. Returns null if the request has none, which most requests have not. */
export async function detailsOf(sent: SentDetails, hashVoter: HashVoter, now: Instant): Promise<SignalDetails | null> {
  const version = versionOf(sent)
  const subject = sent.subject == null ? null : validLabel('subject', sent.subject)
  const voter = sent.voter == null ? null : validLabel('voter', sent.voter)
  const comment = sent.comment == null || sent.comment === '' ? null : validComment(sent.comment)
  const occurredAt = sent.occurredAt == null ? null : validOccurrence(sent.occurredAt, now)
  const traceId = sent.traceparent == null ? null : traceIdOf(sent.traceparent)
  if (version ?? subject ?? voter ?? comment ?? occurredAt ?? traceId ?? null) {
    return { version, subject, voter: voter === null ? null : await hashVoter(voter), comment, occurredAt, traceId }
  }
  return null
}

function versionOf({ version, metadata }: SentDetails): VersionText | null {
  if (version != null) return validVersion(version)
  const members = metadata as Record<string, unknown> | null | undefined
  return members != null && Object.hasOwn(members, versionMember) ? labelledVersion(members[versionMember]) : null
}

/** The schema has checked the length. PostgreSQL cannot store NUL, and neither engine a lone surrogate. */
export function validLabel(field: string, text: string): string {
  if (control.test(text)) throw invalidField(field, 'must not contain control characters')
  return validUnicode(field, text)
}

export function validComment(text: string): string {
  if (text.includes('\0')) throw invalidField('comment', 'must not contain NUL characters')
  return validUnicode('comment', text)
}

/** Null for now, which needs no column of its own. */
function validOccurrence(text: string, now: Instant): Instant | null {
  const at = parseTime('occurredAt', text)
  if (at > now + maxClockSkewMs) throw invalidField('occurredAt', 'must not be in the future')
  if (at < now - maxVoteAgeDays * day) {
    throw invalidField('occurredAt', `must be at most ${maxVoteAgeDays} days ago`)
  }
  return at >= now ? null : at
}

/** Null for a malformed header: as the standard demands, it is ignored. */
function traceIdOf(traceparent: string): string | null {
  const [, version, traceId = '', parentId = '', rest] = traceContext.exec(traceparent) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null
  return zeros.test(traceId) || zeros.test(parentId) ? null : traceId
}
