import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { deployedEntry, openTestStore, useService } from '../../../testing/service.ts'
import { inBatches, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'
import type { NewSignal } from '../../src/domain/signals/signal.ts'
import { day } from '../../src/domain/time.ts'

onEachEngine('The history of the store', (engine) => {
  const service = useService(engine)

  test('pages are newest first, then by ID, whatever order the entries arrived in', async () => {
    const tenant = await service.tenant()
    const order = [3, 1, 2, 2, 5, 0]
    for (const [i, at] of order.entries()) await tenant.recordEntry({ createdAt: at * day, branchName: `b${i}` })
    const { entries, totalCount } = await service.store.history.page(tenant.prompt, { page: '1', limit: 100 })
    assert.equal(totalCount, 6)
    assert.deepEqual(
      entries.map(({ branchName }) => branchName),
      ['b4', 'b0', 'b3', 'b2', 'b1', 'b5'],
    )
  })

  test('recording the same entry again returns the first one', async () => {
    const tenant = await service.tenant()
    const first = await tenant.recordEntry()
    assert.deepEqual(await tenant.recordEntry(), first)
    const { totalCount } = await service.store.history.page(tenant.prompt, { page: '1', limit: 25 })
    assert.equal(totalCount, 1)
  })

  test('entries stay in order while several processes record for one prompt', async () => {
    const tenant = await service.tenant()
    const other = await openTestStore(service.url)
    await Promise.all(
      Array.from({ length: 40 }, (_, i) => {
        const store = i % 2 === 0 ? service.store : other
        const entry = newHistoryEntry({ ...deployedEntry(((i * 7) % 40) * day), branchName: `b${i}` })
        return store.history.record(tenant.prompt, entry, service.now, operator)
      }),
    )
    const { entries, totalCount } = await other.history.page(tenant.prompt, { page: '1', limit: 100 })
    assert.equal(totalCount, 40)
    const times = entries.map(({ createdAt }) => createdAt)
    assert.deepEqual(
      times,
      times.toSorted((a, b) => b - a),
    )
    assert.equal(entries.length, 40)
  })

  test('imported entries are merged into the existing history without duplicates', async () => {
    const tenant = await service.tenant()
    for (const at of [1, 3, 5]) await tenant.recordEntry({ createdAt: at * day })
    const entries = [6, 2, 4, 3, 2].map((at) => newHistoryEntry(deployedEntry(at * day)))
    const result = await service.store.history.import(
      tenant.prompt,
      inBatches(entries.slice(0, 2), entries.slice(2)),
      service.now,
      operator,
    )
    assert.deepEqual(result, { imported: 3, alreadyThere: 2 })
    const page = await service.store.history.page(tenant.prompt, { page: '1', limit: 4 })
    assert.deepEqual(
      page.entries.map(({ createdAt }) => createdAt / day),
      [6, 5, 4, 3],
    )
    assert.equal(page.totalCount, 6)
  })

  test('an import whose source fails halfway stores nothing', async () => {
    const tenant = await service.tenant()
    async function* failing() {
      yield [newHistoryEntry(deployedEntry(day))]
      throw new Error('broken source')
    }
    await assert.rejects(service.store.history.import(tenant.prompt, failing(), service.now, operator), /broken source/)
    async function* failingSignals(): AsyncGenerator<NewSignal[]> {
      yield [signalFor(tenant)]
      throw new Error('broken source')
    }
    await assert.rejects(service.store.signals.import(failingSignals()), /broken source/)
    const page = await service.store.history.page(tenant.prompt, { page: '1', limit: 25 })
    assert.equal(page.totalCount, 0)
    assert.equal(await tenant.used(), 0)
  })

  test('concurrent imports do not mix', async () => {
    const [a, b] = [await service.tenant(), await service.tenant()]
    async function* interruptedBatches(from: number) {
      for (let i = 0; i < 3; i++) {
        yield [newHistoryEntry(deployedEntry((from + i) * day))]
        // Lets the other import run in between.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const results = await Promise.all([
      service.store.history.import(a.prompt, interruptedBatches(1), service.now, operator),
      service.store.history.import(b.prompt, interruptedBatches(10), service.now, operator),
    ])
    assert.deepEqual(results, Array(2).fill({ imported: 3, alreadyThere: 0 }))
  })

  test('importing an empty source stores nothing', async () => {
    const tenant = await service.tenant()
    const none = await service.store.history.import(tenant.prompt, inBatches(), service.now, operator)
    assert.deepEqual(none, { imported: 0, alreadyThere: 0 })
    assert.deepEqual(await service.store.signals.import(inBatches()), { imported: 0, replaced: 0 })
  })
})
