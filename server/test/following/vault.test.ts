import assert from 'node:assert/strict'
import { createCipheriv, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { createVault, type SecretPlace, sealedColumns, secretKeyId } from '../../src/domain/repositories/vault.ts'
import { archiveTables } from '../../src/store/sql/archive-tables.ts'

const token = 'ghp_SECRETTOKEN0123456789'
const place: SecretPlace = { hookId: 'a'.repeat(24), kind: 'token' }

/** The format of earlier versions, without a key ID and a place. */
function encryptedAsV1(key: Buffer, text: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  return `v1:${Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64')}`
}

describe('The vault', () => {
  const key = randomBytes(32)
  const vault = createVault(key)

  test('a secret decrypts to its original text, and only with its own key', () => {
    for (const text of ['', 'x', 'Grüße 𝒳\n', 'x'.repeat(10_000)]) {
      const encrypted = vault.encrypt(text, place)
      assert.equal(vault.decrypt(encrypted, place), text)
      assert.equal(createVault(Buffer.from(key)).decrypt(encrypted, place), text)
      const otherVault = createVault(randomBytes(32))
      assert.throws(() => otherVault.decrypt(encrypted, place), {
        message: new RegExp(`PROMPTLEDGER_SECRET_KEY differs .+ ${secretKeyId(key)}`),
      })
    }
  })

  test('a secret encrypts differently each time, and never contains its text', () => {
    const encrypted = new Set(Array.from({ length: 100 }, () => vault.encrypt(token, place)))
    assert.equal(encrypted.size, 100)
    for (const text of encrypted) {
      const [, keyId, base64 = ''] = /^v2:([0-9a-f]{12}):([A-Za-z0-9+/]+=*)$/.exec(text) ?? []
      assert.equal(keyId, secretKeyId(key))
      assert.ok(!Buffer.from(base64, 'base64').includes(token.slice(0, 8)))
    }
    assert.ok(!key.toString('hex').includes(secretKeyId(key)))
  })

  test('a secret with a changed bit or a missing part is not decrypted', () => {
    const [version, keyId, base64 = ''] = vault.encrypt('secret', place).split(':')
    const bytes = Buffer.from(base64, 'base64')
    const error = /^Error: Cannot decrypt a stored secret/
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes)
      changed[i] = (changed[i] as number) ^ 1
      const withBytes = (part: Buffer) => `${version}:${keyId}:${part.toString('base64')}`
      assert.throws(() => vault.decrypt(withBytes(changed), place), error, `byte ${i}`)
      assert.throws(() => vault.decrypt(withBytes(bytes.subarray(0, i)), place), error, `${i} bytes`)
    }
    for (const text of ['', 'secret', 'v2:', `v1:${base64}`, `v2:${'0'.repeat(12)}:${base64}`]) {
      assert.throws(() => vault.decrypt(text, place), error, text)
    }
  })

  test('a secret copied to another repository or column is not decrypted', () => {
    const encrypted = vault.encrypt(token, place)
    const elsewhere: SecretPlace[] = [
      { ...place, hookId: 'b'.repeat(24) },
      { ...place, kind: 'webhook_secret' },
      { ...place, kind: 'ssh_key' },
      { alertId: 'a'.repeat(24), kind: 'alert_target' },
    ]
    for (const other of elsewhere) {
      assert.throws(() => vault.decrypt(encrypted, other), {
        message: /belongs to another repository, alert, source, key or column/,
      })
    }
  })

  test('an old key decrypts but does not encrypt', () => {
    const old = vault.encrypt(token, place)
    const rotated = createVault(randomBytes(32), [randomBytes(32), key])
    assert.equal(rotated.decrypt(old, place), token)
    assert.ok(!rotated.isCurrent(old))
    const renewed = rotated.encrypt(token, place)
    assert.ok(rotated.isCurrent(renewed))
    assert.throws(() => vault.decrypt(renewed, place))
  })

  test('secrets in the format of earlier versions are decrypted with any of the keys, and are not current', () => {
    const sealed = encryptedAsV1(key, token)
    assert.equal(vault.decrypt(sealed, place), token)
    assert.ok(!vault.isCurrent(sealed))
    assert.equal(createVault(randomBytes(32), [key]).decrypt(sealed, place), token)
    assert.throws(() => createVault(randomBytes(32)).decrypt(sealed, place), { message: /SECRET_KEY differs/ })
  })

  test('every column with secrets is known, so a rotation cannot miss one', () => {
    const stored = archiveTables.flatMap(({ name, columns }) =>
      Object.keys(columns).map((column) => ({ name, column })),
    )
    assert.deepEqual(
      stored
        .filter(({ column }) => column.startsWith('sealed_'))
        .map(({ name, column }) => `${name}.${column}`)
        .sort(),
      Object.entries(sealedColumns)
        .flatMap(([name, columns]) => Object.keys(columns).map((column) => `${name}.${column}`))
        .sort(),
    )
  })
})
