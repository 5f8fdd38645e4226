import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Access } from '../../src/domain/access/api-key.ts'
import { createCaches } from '../../src/store/cache.ts'

const access = (keyId: number) => ({ keyId }) as Access

describe('Memory', () => {
  test('looks for the same thing once, however many ask for it at the same time', async () => {
    const memory = createCaches()
    let looks = 0
    const find = async () => {
      looks++
      return access(1)
    }
    const found = await Promise.all(Array.from({ length: 100 }, () => memory.access.get('a', find)))
    assert.equal(looks, 1)
    assert.ok(found.every(({ keyId }) => keyId === 1))
    await memory.access.get('a', find)
    assert.equal(looks, 1)
    assert.deepEqual([memory.stats().keys.hits, memory.stats().keys.misses], [1, 100])
  })

  test('gives nobody who asks after a change what was looked up before it', async () => {
    const memory = createCaches()
    const before = Promise.withResolvers<Access>()
    const early = memory.access.get('a', () => before.promise)
    memory.clear()
    const late = memory.access.get('a', async () => access(2))
    before.resolve(access(1))
    assert.equal((await early).keyId, 1)
    assert.equal((await late).keyId, 2)
    assert.equal((await memory.access.get('a', () => assert.fail('it is known'))).keyId, 2)
  })

  test('keeps neither a failure nor that nothing was there', async () => {
    const memory = createCaches()
    await assert.rejects(memory.access.get('a', () => Promise.reject(new Error('away'))))
    assert.equal(await memory.access.get('a', async () => null), null)
    assert.equal((await memory.access.get('a', async () => access(3))).keyId, 3)
  })
})
