import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Access } from '../../src/domain/access/api-key.ts'
import type { HistoryEntry } from '../../src/domain/history/entry.ts'
import type { Prompt, PromptPage } from '../../src/domain/prompt.ts'
import { createCaches } from '../../src/store/cache.ts'

const access = (keyId: number) => ({ keyId }) as Access

test('concurrent lookups of the same cache key share one query', async () => {
  const caches = createCaches()
  let queries = 0
  const find = async () => {
    queries++
    return access(1)
  }
  const results = await Promise.all(Array.from({ length: 100 }, () => caches.keys.get('a', find)))
  assert.equal(queries, 1)
  assert.ok(results.every(({ keyId }) => keyId === 1))
  await caches.keys.get('a', find)
  assert.equal(queries, 1)
  assert.deepEqual([caches.stats().keys.hits, caches.stats().keys.misses], [1, 100])
})

test('a lookup after a cache was cleared never returns the result of an earlier query', async () => {
  const caches = createCaches()
  const before = Promise.withResolvers<Access>()
  const early = caches.keys.get('a', () => before.promise)
  caches.clear()
  const late = caches.keys.get('a', async () => access(2))
  before.resolve(access(1))
  assert.equal((await early).keyId, 1)
  assert.equal((await late).keyId, 2)
  assert.equal((await caches.keys.get('a', () => assert.fail('not cached'))).keyId, 2)
})

test('failed and empty lookups are not cached', async () => {
  const caches = createCaches()
  await assert.rejects(
    caches.keys.get('a', () => Promise.reject(new Error('unavailable'))),
    /unavailable/,
  )
  assert.equal(await caches.keys.get('a', async () => null), null)
  assert.equal((await caches.keys.get('a', async () => access(3))).keyId, 3)
})

test('the length of names decides how many pages are kept, not how much memory they take', async () => {
  const caches = createCaches()
  const name = 'n'.repeat(1_000)
  const user = { name, email: name }
  const ofHundred = <Item>(item: object) => Array.from({ length: 100 }, () => item as Item)
  const entries = ofHundred<HistoryEntry>({ user, branchName: '', prUrl: null })
  const page: PromptPage = { prompts: ofHundred<Prompt>({ name, path: name }), totalCount: 100 }
  // With 2,000 characters for each prompt and each entry, 5,000,000 are fewer than 25 pages of either.
  for (let i = 0; i < 26; i++) {
    await caches.entries.get(`${i}`, async () => entries)
    await caches.prompt_pages.get(`${i}`, async () => page)
  }
  const fresh: HistoryEntry[] = []
  assert.equal(await caches.entries.get('25', async () => fresh), entries)
  assert.equal(await caches.entries.get('0', async () => fresh), fresh)
  const empty = { prompts: [], totalCount: 0 }
  assert.equal(await caches.prompt_pages.get('25', async () => empty), page)
  assert.equal(await caches.prompt_pages.get('0', async () => empty), empty)
})
