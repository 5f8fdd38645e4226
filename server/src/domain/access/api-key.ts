import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { DomainError, invalidField } from '../errors.ts'
import { validGlob } from '../glob.ts'
import { base62, randomBase62 } from '../random.ts'
import { validLine, validName } from '../text.ts'
import { type Instant, yearTenThousand } from '../time.ts'
import type { Actor } from './audit.ts'
import type { Plan } from './plan.ts'

export const roles = ['ingest', 'recorder', 'reader', 'standard', 'admin'] as const

export type Role = (typeof roles)[number]

/** The roles that may read everything of the organisation, except what only admins see. */
export const readerRoles = ['reader', 'standard', 'admin'] as const satisfies Role[]

export interface ApiKey {
  id: number
  organisationId: number
  name: string
  role: Role
  /** A glob: the key is limited to prompts whose name or path matches. Null for every prompt. */
  prompts: string | null
  /** The last four characters of the secret, so users can tell their keys apart. */
  hint: string
  createdAt: Instant
  expiresAt: Instant | null
  revokedAt: Instant | null
  lastUsedAt: Instant | null
}

export interface NewApiKey {
  organisationId: number
  name: string
  role: Role
  prompts: string | null
  hash: string
  hint: string
  createdAt: Instant
  expiresAt: Instant | null
}

/** What a key grants: access to its organisation, or to some of its prompts, on that organisation's plan, with the key's role. */
export interface Access {
  keyId: number
  role: Role
  prompts: string | null
  expiresAt: Instant | null
  revokedAt: Instant | null
  organisationId: number
  plan: Plan
}

export interface KeyUse {
  keyId: number
  usedAt: Instant
}

export interface KeyStore {
  create(key: NewApiKey, by: Actor): Promise<ApiKey>
  find(id: number): Promise<ApiKey | null>
  list(organisationId: number): Promise<ApiKey[]>
  /** Revoking a revoked key keeps its original revocation time. */
  revoke(id: number, at: Instant, by: Actor): Promise<ApiKey | null>
  /**
   * Creates the replacement and makes the old key expire at `oldExpiresAt`, unless it already expires earlier. Rejects,
   * changing nothing, if the old key is revoked or expired.
   */
  rotate(id: number, replacement: NewApiKey, oldExpiresAt: Instant, by: Actor): Promise<ApiKey>
  findAccess(keyHash: string): Promise<Access | null>
  /** Records when keys were last used. An older time never replaces a newer one. */
  recordUses(uses: KeyUse[]): Promise<void>
}

/** What the caller chooses about a new key. */
export type KeyDetails = Omit<NewApiKey, 'hash' | 'hint' | 'prompts'> & { prompts?: string | null }

/** A key that was just created. The secret is available only now: the store keeps just its hash. */
export interface IssuedKey {
  key: ApiKey
  secret: string
}

const maxNameLength = 200
const prefix = 'plk_'
const randomLength = 43
const checksumLength = 6
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`)

export function generateSecret(): string {
  const body = prefix + randomBase62(randomLength)
  return body + checksum(body)
}

/** Detects mistyped and made-up keys by their checksum, without a database query. */
export function isWellFormedSecret(text: string): boolean {
  return shape.test(text) && text.endsWith(checksum(text.slice(0, -checksumLength)))
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

export function newApiKey(secret: string, key: KeyDetails): NewApiKey {
  return {
    ...key,
    name: validLine('name', key.name, maxNameLength),
    prompts: validPromptLimit(key.role, key.prompts),
    hash: hashSecret(secret),
    hint: secret.slice(-4),
  }
}

/** The glob that limits a key to some prompts, or null. */
export function validPromptLimit(role: Role, prompts: string | null = null): string | null {
  if (prompts === null) return null
  // An admin could create another key without the limit.
  if (role === 'admin')
    throw invalidField('prompts', 'cannot limit the role admin, which manages the whole organisation')
  return validGlob('prompts', prompts)
}

export async function issueKey(keys: KeyStore, details: KeyDetails, by: Actor): Promise<IssuedKey> {
  // Not checked when a key is rotated, because its name may be older than this rule.
  validName('name', details.name, maxNameLength)
  const secret = generateSecret()
  return { key: await keys.create(newApiKey(secret, details), by), secret }
}

/** Replaces a key. The old one stays valid for `overlapMs`. */
export async function rotateKey(
  keys: KeyStore,
  old: ApiKey,
  overlapMs: number,
  now: Instant,
  by: Actor,
): Promise<IssuedKey> {
  const secret = generateSecret()
  return { key: await keys.rotate(old.id, newApiKey(secret, replacementFor(old, now)), now + overlapMs, by), secret }
}

export function inactiveKey(keyId: number): DomainError {
  return new DomainError('conflict', `Key ${keyId} is revoked or expired. Create a new key instead.`)
}

/** The replacement gets the same lifetime that the old key started with. */
function replacementFor(
  { organisationId, name, role, prompts, createdAt, expiresAt }: ApiKey,
  now: Instant,
): KeyDetails {
  const lifetimeMs = expiresAt === null ? null : expiresAt - createdAt
  return {
    organisationId,
    name,
    role,
    prompts,
    createdAt: now,
    expiresAt: lifetimeMs === null ? null : Math.min(now + lifetimeMs, yearTenThousand - 1),
  }
}

export function isActive(access: Access, now: Instant): boolean {
  return access.revokedAt === null && (access.expiresAt === null || now < access.expiresAt)
}

function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text = base62[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}
