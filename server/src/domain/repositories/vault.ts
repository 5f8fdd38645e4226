import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

/** Encrypts secrets at rest, so reading the database does not reveal them. */
export interface Vault {
  encrypt(text: string, place: SecretPlace): string
  decrypt(sealed: string, place: SecretPlace): string
  /** Whether the value has the current format and key. */
  isCurrent(sealed: string): boolean
  /** Whether the value names a key that this vault has. Values in the old format name none. */
  hasKeyOf(sealed: string): boolean
}

/**
 * Where a secret is stored. It is part of what is authenticated: a value copied to another row, or to a column of another kind,
 * cannot be decrypted. The hook ID of a repository, the public IDs of alerts and sources and the ID of a signing key identify the row,
 * because they are known before the row is stored and do not change when an organisation moves to another database. The hook ID is null
 * for a secret of the organisation itself, which has no such ID.
 */
export type SecretPlace =
  | { hookId: string | null; kind: 'token' | 'ssh_key' | 'webhook_secret' | 'voter_key' }
  | { alertId: string; kind: AlertSecretKind }
  | { signingId: string; kind: 'signing_key' }
  | { sourceId: string; kind: 'source_secret' }
  | { purpose: 'state' | 'link'; kind: 'sign_in' }

export type AlertSecretKind = 'alert_target' | 'alert_secret'

/**
 * The columns with secrets, by table. The current and the previous secret are of one kind, because a rotation moves one value to
 * the other column.
 */
export const sealedColumns = {
  repositories: {
    sealed_token: 'token',
    sealed_ssh_key: 'ssh_key',
    sealed_secret: 'webhook_secret',
    sealed_old_secret: 'webhook_secret',
  },
  organisations: { sealed_voter_key: 'voter_key' },
  alerts: { sealed_target: 'alert_target', sealed_secret: 'alert_secret', sealed_old_secret: 'alert_secret' },
  api_keys: { sealed_secret: 'signing_key' },
  sources: { sealed_secret: 'source_secret' },
} as const satisfies Record<string, Record<string, SecretPlace['kind']>>

export type SealedTable = keyof typeof sealedColumns

export const sealedTables = Object.keys(sealedColumns) as SealedTable[]

export function sealedColumnsOf(table: SealedTable): string[] {
  return Object.keys(sealedColumns[table])
}

/** The column that identifies a row in what is authenticated. Organisations have none. */
export const placeColumns = {
  repositories: 'hook_id',
  organisations: null,
  alerts: 'public_id',
  api_keys: 'signing_id',
  sources: 'public_id',
} as const satisfies Record<SealedTable, string | null>

const algorithm = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16
// v1:<base64>, without a key ID and a place. Still read, until the key is rotated.
const unplaced = 'v1:'
// v2:<key ID>:<base64>
const placed = /^v2:([0-9a-f]{12}):/

/** Encrypts with `current`, and decrypts with any of the keys. Each has 32 bytes. */
export function createVault(current: Buffer, old: Buffer[] = []): Vault {
  const keys = new Map([...old, current].map((key) => [secretKeyId(key), key]))
  const currentId = secretKeyId(current)

  return {
    encrypt(text, place) {
      const iv = randomBytes(ivLength)
      const cipher = createCipheriv(algorithm, current, iv).setAAD(authenticated(place))
      const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v2:${currentId}:${sealed.toString('base64')}`
    },
    decrypt(sealed, place) {
      const [prefix, keyId = ''] = placed.exec(sealed) ?? []
      if (prefix === undefined) return decryptUnplaced([...keys.values()], sealed)
      const key = keys.get(keyId)
      if (key === undefined) {
        throw new Error(
          `Cannot decrypt a stored secret: PROMPTLEDGER_SECRET_KEY differs from the key it was encrypted with, whose ID is ` +
            `${keyId}. Add that key to PROMPTLEDGER_OLD_SECRET_KEYS`,
        )
      }
      try {
        return open(key, sealed.slice(prefix.length), authenticated(place))
      } catch {
        throw new Error(
          'Cannot decrypt a stored secret: it is damaged, or belongs to another repository, alert, source, key or column',
        )
      }
    },
    isCurrent: (sealed) => placed.exec(sealed)?.[1] === currentId,
    hasKeyOf: (sealed) => keys.has(placed.exec(sealed)?.[1] ?? currentId),
  }
}

/** Identifies a key without revealing anything about it. */
export function secretKeyId(key: Buffer): string {
  return createHmac('sha256', key).update('promptledger secret key id').digest('hex').slice(0, 12)
}

function authenticated(place: SecretPlace): Buffer {
  if ('alertId' in place) return Buffer.from(`alerts ${place.alertId} ${place.kind}`)
  if ('purpose' in place) return Buffer.from(`${place.kind} ${place.purpose}`)
  if ('signingId' in place) return Buffer.from(`api_keys ${place.signingId} ${place.kind}`)
  if ('sourceId' in place) return Buffer.from(`sources ${place.sourceId} ${place.kind}`)
  const { hookId, kind } = place
  return Buffer.from(hookId === null ? `organisations ${kind}` : `repositories ${hookId} ${kind}`)
}

function decryptUnplaced(keys: Buffer[], sealed: string): string {
  for (const key of keys) {
    try {
      return open(key, sealed.slice(unplaced.length), null)
    } catch {}
  }
  throw new Error('Cannot decrypt a stored secret: PROMPTLEDGER_SECRET_KEY differs from the key it was encrypted with')
}

function open(key: Buffer, base64: string, authenticated: Buffer | null): string {
  const bytes = Buffer.from(base64, 'base64')
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), { authTagLength: tagLength })
  if (authenticated !== null) decipher.setAAD(authenticated)
  decipher.setAuthTag(bytes.subarray(-tagLength))
  return decipher.update(bytes.subarray(ivLength, -tagLength), undefined, 'utf8') + decipher.final('utf8')
}
