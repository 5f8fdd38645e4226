import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { createVault } from '../../src/domain/repositories/vault.ts'

const token = 'ghp_SECRETTOKEN0123456789'

describe('The vault', () => {
  const key = randomBytes(32)
  const vault = createVault(key)

  test('a secret decrypts to its original text, and only with its own key', () => {
    for (const text of ['', 'x', 'Grüße 𝒳\n', 'x'.repeat(10_000)]) {
      const encrypted = vault.encrypt(text)
      assert.equal(vault.decrypt(encrypted), text)
      assert.equal(createVault(Buffer.from(key)).decrypt(encrypted), text)
      const otherVault = createVault(randomBytes(32))
      assert.throws(() => otherVault.decrypt(encrypted), { message: /PROMPTLEDGER_SECRET_KEY differs/ })
    }
  })

  test('a secret encrypts differently each time, and never contains its text', () => {
    const encrypted = new Set(Array.from({ length: 100 }, () => vault.encrypt(token)))
    assert.equal(encrypted.size, 100)
    for (const text of encrypted) {
      assert.match(text, /^v1:[A-Za-z0-9+/]+=*$/)
      assert.ok(!Buffer.from(text.slice(3), 'base64').includes(token.slice(0, 8)))
    }
  })

  test('a secret with a changed bit or a missing part is not decrypted', () => {
    const bytes = Buffer.from(vault.encrypt('secret').slice(3), 'base64')
    const error = /^Error: Cannot decrypt a stored secret/
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes)
      changed[i] = (changed[i] as number) ^ 1
      assert.throws(() => vault.decrypt(`v1:${changed.toString('base64')}`), error, `byte ${i}`)
      assert.throws(() => vault.decrypt(`v1:${bytes.subarray(0, i).toString('base64')}`), error, `${i} bytes`)
    }
    assert.throws(() => vault.decrypt(''), error)
    assert.throws(() => vault.decrypt('secret'), error)
  })
})
