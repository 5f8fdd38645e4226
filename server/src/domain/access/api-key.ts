import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { DomainError, invalidField } from '../errors.ts'
import { validGlob } from '../glob.ts'
import type { PageRequest } from '../page.ts'
import { base62, randomBase62 } from '../random.ts'
import type { Vault } from '../repositories/vault.ts'
import { validLine, validName } from '../text.ts'
import { type Instant, yearTenThousand } from '../time.ts'
import type { Actor } from './audit.ts'
import type { Plan } from './plan.ts'

/** The roles of keys that authenticate requests. */
export const requestRoles = ['ingest', 'recorder', 'delivery', 'reader', 'standard', 'deploy', 'admin'] as const

/** A key with the role `signing` authenticates no request: it signs the tokens that pages vote with. */
export const roles = [...requestRoles, 'signing'] as const

/** `member` is only the role of people who sign in: see person.ts. */
export const accessRoles = [...roles, 'member'] as const

export type Role = (typeof accessRoles)[number]

/** The roles that may read everything of the organisation, except what only admins see. */
export const readerRoles = ['reader', 'standard', 'deploy', 'admin'] as const satisfies Role[]

/** The roles that may record signals. */
export const signalRoles = ['ingest', 'standard', 'admin'] as const satisfies Role[]

/** The roles that may fetch the texts of prompts for an application, and read the history of those prompts. */
export const deliveryRoles = ['delivery', ...readerRoles] as const satisfies Role[]

/** The roles that may report how many users of an application got each version. */
export const exposureRoles = ['delivery', 'standard', 'deploy', 'admin'] as const satisfies Role[]

/**
 * Every right that an operation may require, by the roles that have it. Which keys a person may have is derived from this list
 * (`ownKeyRoles`), so the type of an operation accepts no other combination of roles.
 */
const rights = [
  readerRoles,
  signalRoles,
  deliveryRoles,
  exposureRoles,
  ['admin'],
  ['recorder', 'admin'],
  ['recorder', 'deploy', 'admin'],
  ['deploy', 'admin'],
  ['standard', 'admin'],
  ['standard', 'deploy', 'admin'],
] as const satisfies Role[][]

export type Right = Readonly<(typeof rights)[number]>

/** The only place that compares a role with those that may do something. A member may do what `standard` or `deploy` may. */
export function isAllowed(role: Role, allowed: Right | undefined): boolean {
  const roles: readonly Role[] | undefined = allowed
  if (roles === undefined || roles.includes(role)) return true
  return role === 'member' && (roles.includes('standard') || roles.includes('deploy'))
}

/** Whether a key of the role may do nothing that `other` may not. A signing key lets strangers vote, so only admins have one. */
export function isWithin(role: Role, other: Role): boolean {
  if (role === 'signing') return other === 'admin'
  return rights.every((right) => !isAllowed(role, right) || isAllowed(other, right))
}

export interface ApiKey {
  id: number
  organisationId: number
  name: string
  role: Role
  /** A glob: the key is limited to prompts whose name or path matches. Null for every prompt. */
  prompts: string | null
  /** The last four characters of the secret, so users can tell their keys apart. Empty for the key of a person's sessions. */
  hint: string
  /** The person that the key belongs to, and ends with. Null for a key of the organisation. */
  personId: number | null
  createdAt: Instant
  expiresAt: Instant | null
  revokedAt: Instant | null
  lastUsedAt: Instant | null
}

export interface NewApiKey extends Omit<ApiKey, 'id' | 'revokedAt' | 'lastUsedAt'> {
  hash: string
  /** Only for the role `signing`. */
  signing: SealedSigningKey | null
}

/** What the store keeps of a signing key, beside its hash: the ID that tokens name it by, and the encrypted key. */
interface SealedSigningKey {
  id: string
  sealed: string
}

/** What a key grants: access to its organisation, or to some of its prompts, on that organisation's plan, with the key's role. */
export interface Access extends Pick<ApiKey, 'organisationId' | 'role' | 'prompts' | 'expiresAt' | 'revokedAt'> {
  keyId: number
  plan: Plan
  /** Only of a share link, which grants less than its role: one prompt, and the operations that allow it. */
  shared?: SharedPrompt
}

/** The prompt that a share link shows. */
export interface SharedPrompt {
  /** The public ID. */
  promptId: string
  promptName: string
  regressionId: number | null
  includesSignals: boolean
}

/** What a signing key grants to the tokens that it signed. */
export interface SigningAccess extends Access {
  signing: SealedSigningKey
}

interface KeyUse {
  keyId: number
  usedAt: Instant
}

export interface KeyStore {
  create(key: NewApiKey, by: Actor): Promise<ApiKey>
  find(id: number): Promise<ApiKey | null>
  /** Without those that the sessions of people use. With `personId`, only theirs. */
  page(
    organisationId: number,
    personId: number | null,
    request: PageRequest,
  ): Promise<{ keys: ApiKey[]; totalCount: number }>
  /** All of them, for the operator: an organisation may have any number. */
  list(organisationId: number, personId?: number | null): Promise<ApiKey[]>
  /** Revoking a revoked key keeps its original revocation time. */
  revoke(id: number, at: Instant, by: Actor): Promise<ApiKey | null>
  /**
   * Creates the replacement and makes the old key expire at `oldExpiresAt`, unless it already expires earlier. Rejects,
   * changing nothing, if the old key is revoked or expired.
   */
  rotate(id: number, replacement: NewApiKey, oldExpiresAt: Instant, by: Actor): Promise<ApiKey>
  findAccess(keyHash: string): Promise<Access | null>
  /** The signing key that tokens name by this ID. */
  findSigning(signingId: string): Promise<SigningAccess | null>
  /** Records when keys were last used. An older time never replaces a newer one. */
  recordUses(uses: KeyUse[]): Promise<void>
}

/** What the caller chooses about a new key. */
export type KeyDetails = Omit<NewApiKey, 'hash' | 'hint' | 'prompts' | 'signing' | 'personId'> & {
  prompts?: string | null
  personId?: number | null
}

/** A key that was just created. The secret is available only now: the store keeps its hash and, of a signing key, it encrypted. */
export interface IssuedKey {
  key: ApiKey
  secret: string
}

const maxNameLength = 200
const prefix = 'plk_'
const randomLength = 43
const checksumLength = 6
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`)
// Another prefix than that of other keys, so that no process takes it for a key that authenticates requests.
const signingPrefix = 'pls_'
const signingIdLength = 16
const signingId = new RegExp(`^[0-9A-Za-z]{${signingIdLength}}$`)

export function generateSecret(): string {
  const body = prefix + randomBase62(randomLength)
  return body + checksum(body)
}

/** `pls_<ID>_<random><checksum>`. The clients read the ID from it, so that signing needs no request. */
function generateSigningKey(): { id: string; secret: string } {
  const id = randomBase62(signingIdLength)
  const body = `${signingPrefix}${id}_${randomBase62(randomLength)}`
  return { id, secret: body + checksum(body) }
}

export function isSigningId(text: string): boolean {
  return signingId.test(text)
}

/** Detects mistyped and made-up keys by their checksum, without a database query. */
export function isWellFormedSecret(text: string): boolean {
  return shape.test(text) && text.endsWith(checksum(text.slice(0, -checksumLength)))
}

/** What is stored of the secret of a key, and of the token of a session, an invitation or a share link. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** For a key that no request can send. */
export function unknownSecretHash(): string {
  return hashSecret(generateSecret())
}

export function newApiKey(secret: string, key: KeyDetails): NewApiKey {
  return {
    ...key,
    personId: key.personId ?? null,
    name: validLine('name', key.name, maxNameLength),
    prompts: validPromptLimit(key.role, key.prompts),
    hash: hashSecret(secret),
    hint: secret.slice(-4),
    signing: null,
  }
}

/** Creates the secret of a key. That of a signing key is stored encrypted, because it has to be known to verify tokens. */
function newSecret(details: KeyDetails, vault: Pick<Vault, 'encrypt'> | null): { key: NewApiKey; secret: string } {
  if (details.role !== 'signing') {
    const secret = generateSecret()
    return { key: newApiKey(secret, details), secret }
  }
  if (vault === null) throw new Error('A signing key cannot be created without a vault')
  const { id, secret } = generateSigningKey()
  const key = newApiKey(secret, details)
  return { key: { ...key, signing: { id, sealed: seal(vault, id, secret) } }, secret }
}

function seal(vault: Pick<Vault, 'encrypt'>, signingId: string, secret: string): string {
  try {
    return vault.encrypt(secret, { signingId, kind: 'signing_key' })
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'conflict')) throw error
    throw invalidField(
      'role',
      'cannot be signing, because this service has no key to encrypt the signing key with. Its operator must set PROMPTLEDGER_SECRET_KEY',
    )
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

/** Only a signing key needs the vault. */
export async function issueKey(
  keys: KeyStore,
  details: KeyDetails,
  by: Actor,
  vault: Pick<Vault, 'encrypt'> | null = null,
): Promise<IssuedKey> {
  // Not checked when a key is rotated, because its name may be older than this rule.
  validName('name', details.name, maxNameLength)
  const { key, secret } = newSecret(details, vault)
  return { key: await keys.create(key, by), secret }
}

/** Replaces a key. The old one stays valid for `overlapMs`. */
export async function rotateKey(
  keys: KeyStore,
  old: ApiKey,
  overlapMs: number,
  now: Instant,
  by: Actor,
  vault: Pick<Vault, 'encrypt'> | null = null,
): Promise<IssuedKey> {
  const { key, secret } = newSecret(replacementFor(old, now), vault)
  return { key: await keys.rotate(old.id, key, now + overlapMs, by), secret }
}

export function inactiveKey(keyId: number): DomainError {
  return new DomainError('conflict', `Key ${keyId} is revoked or expired. Create a new key instead.`)
}

/** The replacement gets the same lifetime that the old key started with. */
function replacementFor(
  { organisationId, personId, name, role, prompts, createdAt, expiresAt }: ApiKey,
  now: Instant,
): KeyDetails {
  const lifetimeMs = expiresAt === null ? null : expiresAt - createdAt
  return {
    organisationId,
    personId,
    name,
    role,
    prompts,
    createdAt: now,
    expiresAt: lifetimeMs === null ? null : Math.min(now + lifetimeMs, yearTenThousand - 1),
  }
}

export function isActive(access: Pick<Access, 'revokedAt' | 'expiresAt'>, now: Instant): boolean {
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
