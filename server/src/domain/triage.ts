import { invalidField } from './errors.ts'
import { validLine, validText } from './text.ts'
import { day, type Instant } from './time.ts'

/** What people do about an open regression or shift. */
export const triageActions = ['owner', 'acknowledged', 'unacknowledged', 'snoozed', 'awake', 'comment'] as const

export type TriageAction = (typeof triageActions)[number]

/** What to change. Undefined leaves it as it is. */
export interface Triage {
  /** An email address; null for the author of the change. */
  owner?: string | null
  acknowledged?: boolean
  /** Null ends it. */
  snoozedUntil?: Instant | null
  comment?: string
}

/** One thing that a person did, or said. */
export interface TriageStep {
  at: Instant
  /** The name of the key; null for the operator. */
  by: string | null
  action: TriageAction
  /** The comment, the new owner, or until when. */
  text: string | null
}

const maxCommentLength = 2_000
const maxSnoozeMs = 366 * day

export function validTriage(triage: Triage, now: Instant): Triage {
  const { owner, snoozedUntil, comment } = triage
  if (owner != null && !/^[^\s@]+@[^\s@]+$/.test(validLine('owner', owner, 320))) {
    throw invalidField('owner', 'must be an email address')
  }
  if (snoozedUntil != null && (snoozedUntil <= now || snoozedUntil > now + maxSnoozeMs)) {
    throw invalidField('snoozedUntil', 'must be in the future, and within a year')
  }
  if (comment !== undefined) validText('comment', comment, maxCommentLength)
  return triage
}

/** What people decided about a regression or a shift so far. */
export interface Triaged {
  /** The email address of the person who takes care of it; null for the author of the change. */
  owner: string | null
  acknowledgedAt: Instant | null
  /** The name of a key. */
  acknowledgedBy: string | null
  snoozedUntil: Instant | null
  dismissedAt: Instant | null
  /** The name of the key that dismissed it. */
  dismissedBy: string | null
  note: string | null
}

interface Owned {
  owner: string | null
  change: { user: { email: string } } | null
}

/** The address of the person who takes care of it; null if the author of the change has none. */
export function ownerOf({ owner, change }: Owned): string | null {
  const address = owner ?? change?.user.email ?? null
  return address?.includes('@') ? address : null
}

/** Until when alerts about it are not repeated: always if it is acknowledged. Null if they are. */
export function quietUntil(
  { acknowledgedAt, snoozedUntil }: Pick<Triaged, 'acknowledgedAt' | 'snoozedUntil'>,
  now: Instant,
): Instant | null {
  if (acknowledgedAt !== null) return Number.POSITIVE_INFINITY
  return snoozedUntil !== null && snoozedUntil > now ? snoozedUntil : null
}
