import { DomainError, invalidField } from '../errors.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import { randomBase62 } from '../random.ts'
import { day, type Instant } from '../time.ts'
import { type Access, hashSecret, type SharedPrompt } from './api-key.ts'
import type { Actor } from './audit.ts'

/** A link to one prompt for people without a key. */
export interface Share {
  id: number
  prompt: Pick<Prompt, 'publicId' | 'name'>
  /** The regression that the link opens; null for the prompt's page. */
  regressionId: number | null
  /** Whether signals are shown too, with comments and metadata. */
  includesSignals: boolean
  /** The last four characters of the link. */
  hint: string
  createdAt: Instant
  expiresAt: Instant
  revokedAt: Instant | null
  /** The name of the key that created it. */
  createdBy: string
}

interface NewShare extends Pick<Share, 'regressionId' | 'includesSignals' | 'hint' | 'createdAt' | 'expiresAt'> {
  prompt: Prompt
  tokenHash: string
}

/** What a link grants: to read one prompt. It ends with the key that created it if that is revoked. */
export interface SharedAccess extends Access {
  shared: SharedPrompt
}

export interface ShareStore {
  /** Throws `tooManyShares` if the prompt has too many active links. Deletes those that ended long ago. */
  create(share: NewShare, by: Actor): Promise<Share>
  /** Newest first. Of these prompts, or of all. */
  page(
    organisationId: number,
    promptIds: number[] | null,
    request: PageRequest,
  ): Promise<{ shares: Share[]; totalCount: number }>
  /** Revoking a revoked link changes nothing. Null if the prompt has no such link. */
  revoke(prompt: Prompt, id: number, at: Instant, by: Actor): Promise<Share | null>
  findAccess(tokenHash: string): Promise<SharedAccess | null>
}

const prefix = 'plv_'
const tokenLength = 43
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${tokenLength}}$`)
const defaultLifetimeMs = 7 * day
const maxLifetimeMs = 90 * day
export const maxActiveShares = 100
/** Ended links are listed, and tell visitors that they have ended, for this long. */
export const endedSharesForMs = 90 * day

export function isShareToken(text: string): boolean {
  return shape.test(text)
}

/** Creates a link. The token is available only now: the store keeps its hash. */
export async function createShare(
  shares: ShareStore,
  {
    prompt,
    regressionId,
    includesSignals,
    expiresAt,
  }: Pick<NewShare, 'prompt' | 'regressionId' | 'includesSignals'> & { expiresAt: Instant | null },
  now: Instant,
  by: Actor,
): Promise<{ share: Share; token: string }> {
  const end = expiresAt ?? now + defaultLifetimeMs
  if (end <= now) throw invalidField('expiresAt', 'must be in the future')
  if (end > now + maxLifetimeMs) throw invalidField('expiresAt', 'must be at most 90 days from now')
  const token = prefix + randomBase62(tokenLength)
  const details = { tokenHash: hashSecret(token), hint: token.slice(-4), createdAt: now, expiresAt: end }
  return { share: await shares.create({ prompt, regressionId, includesSignals, ...details }, by), token }
}

export function tooManyShares(): DomainError {
  const message = `The prompt already has ${maxActiveShares} active share links, the most it may have. Revoke one first.`
  return new DomainError('conflict', message)
}
