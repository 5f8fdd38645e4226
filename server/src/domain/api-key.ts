import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Plan } from './plan.ts'
import { base62, randomBase62 } from './random.ts'
import { lineOfText } from './text.ts'
import type { Instant } from './time.ts'

export const roles = ['ingest', 'standard', 'admin'] as const

export type Role = (typeof roles)[number]

export interface ApiKey {
  id: number
  organisationId: number
  name: string
  role: Role
  /** The last four characters, so that people can tell their keys apart. */
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
  hash: string
  hint: string
  createdAt: Instant
  expiresAt: Instant | null
}

/** What a key opens: its organisation, on that organisation's plan, with the key's role. */
export interface Access {
  keyId: number
  role: Role
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
  create(key: NewApiKey): Promise<ApiKey>
  find(id: number): Promise<ApiKey | null>
  list(organisationId: number): Promise<ApiKey[]>
  /** Revoking again changes nothing: the first time stands. */
  revoke(id: number, at: Instant): Promise<ApiKey | null>
  /** Creates the replacement and lets the old key expire at `oldExpiresAt`, or earlier where it would have anyway. */
  rotate(id: number, replacement: NewApiKey, oldExpiresAt: Instant): Promise<ApiKey>
  findAccess(keyHash: string): Promise<Access | null>
  /** Notes when keys were last used; an older time never replaces a newer one. */
  recordUses(uses: KeyUse[]): Promise<void>
}

const prefix = 'plk_'
const randomLength = 43
const checksumLength = 6
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`)

export function newSecret(): string {
  const body = prefix + randomBase62(randomLength)
  return body + checksum(body)
}

/** Tells a mistyped or made-up key without asking the database. */
export function isSecret(text: string): boolean {
  return shape.test(text) && text.endsWith(checksum(text.slice(0, -checksumLength)))
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

export function newApiKey(
  secret: string,
  key: { organisationId: number; name: string; role: Role; createdAt: Instant; expiresAt: Instant | null },
): NewApiKey {
  return { ...key, name: lineOfText('name', key.name, 200), hash: hashSecret(secret), hint: secret.slice(-4) }
}

export function opens(access: Access, now: Instant): boolean {
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
