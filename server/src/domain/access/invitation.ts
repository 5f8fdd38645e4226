import { DomainError } from '../errors.ts'
import { randomBase62 } from '../random.ts'
import { day, type Instant } from '../time.ts'
import { hashSecret } from './api-key.ts'
import type { Actor } from './audit.ts'
import { validEmail } from './email-address.ts'
import type { PersonRole } from './person.ts'

/** A link that lets one person join an organisation with a role. */
export interface Invitation {
  id: number
  organisationId: number
  role: PersonRole
  /** The only address that may use it, in lower case. Null for any. */
  email: string | null
  /** The last four characters of the link. */
  hint: string
  createdAt: Instant
  expiresAt: Instant
  /** The name of the key or person that created it. */
  createdBy: string
}

interface NewInvitation extends Omit<Invitation, 'id' | 'createdBy'> {
  tokenHash: string
}

export interface InvitationStore {
  /** Throws `tooManyInvitations` if the organisation has too many open ones. Deletes those that have expired. */
  create(invitation: NewInvitation, by: Actor): Promise<Invitation>
  /** The open ones, newest first. */
  list(organisationId: number, now: Instant): Promise<Invitation[]>
  /** Open or not: it ends when it is accepted, revoked or expired, and when the key that created it may no longer invite. */
  find(tokenHash: string, now: Instant): Promise<(Invitation & { isOpen: boolean }) | null>
  /** Returns false if it is not open: it can be accepted once. */
  accept(invitation: Invitation, at: Instant): Promise<boolean>
  /** Null if there is no such invitation that is open. */
  revoke(organisationId: number, id: number, at: Instant, by: Actor): Promise<Invitation | null>
}

const prefix = 'pli_'
const tokenLength = 43
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${tokenLength}}$`)
const lifetimeMs = 7 * day
export const maxOpenInvitations = 1_000

export function isInvitationToken(text: string): boolean {
  return shape.test(text)
}

/** Creates an invitation. The token is available only now: the store keeps its hash. */
export async function createInvitation(
  invitations: InvitationStore,
  { organisationId, role, email }: Pick<Invitation, 'organisationId' | 'role' | 'email'>,
  now: Instant,
  by: Actor,
): Promise<{ invitation: Invitation; token: string }> {
  const token = prefix + randomBase62(tokenLength)
  const details = {
    organisationId,
    role,
    email: email === null ? null : validEmail('email', email),
    tokenHash: hashSecret(token),
    hint: token.slice(-4),
    createdAt: now,
    expiresAt: now + lifetimeMs,
  }
  return { invitation: await invitations.create(details, by), token }
}

export function tooManyInvitations(): DomainError {
  return new DomainError(
    'conflict',
    `The organisation already has ${maxOpenInvitations} open invitations, the most it may have. Revoke one first.`,
  )
}
