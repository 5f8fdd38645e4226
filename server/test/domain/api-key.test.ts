import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { generateSecret, isWellFormedSecret } from '../../src/domain/access/api-key.ts'

test('a generated key has the documented format and a valid checksum', () => {
  for (let i = 0; i < 200; i++) {
    const secret = generateSecret()
    assert.match(secret, /^plk_[0-9A-Za-z]{49}$/)
    assert.ok(isWellFormedSecret(secret))
  }
})

test('a key with any single character changed fails its checksum', () => {
  const characters = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']
  const secret = generateSecret()
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 52 }), fc.constantFrom(...characters), (at, character) => {
      const changed = secret.slice(0, at) + character + secret.slice(at + 1)
      assert.equal(isWellFormedSecret(changed), changed === secret)
    }),
  )
})
