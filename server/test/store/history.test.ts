import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { inPortions, signalOf } from '../../../testing/recording.ts'
import { deployed, openTestStore, useService } from '../../../testing/service.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'
import type { NewSignal } from '../../src/domain/signals/signal.ts'

const day = 86_400_000

onEachEngine('The store keeps history and', (engine) => {
  const service = useService(engine)

  test('shows history newest first, entries of one moment by id, whatever order they came in', async () => {
    const tenant = await service.tenant()
    const order = [3, 1, 2, 2, 5, 0]
    for (const [i, at] of order.entries()) await tenant.record({ createdAt: at * day, branchName: `b${i}` })
    const { entries, totalCount } = await service.store.history.page(tenant.prompt, { page: '1', limit: 100 })
    assert.equal(totalCount, 6)
    assert.deepEqual(
      entries.map(({ branchName }) => branchName),
      ['b4', 'b0', 'b3', 'b2', 'b1', 'b5'],
    )
  })

  test('records the same entry once and gives the first one back', async () => {
    const tenant = await service.tenant()
    const first = await tenant.record()
    assert.deepEqual(await tenant.record(), first)
    const { totalCount } = await service.store.history.page(tenant.prompt, { page: '1', limit: 25 })
    assert.equal(totalCount, 1)
  })

  test('numbers entries right while several processes record for one prompt at once', async () => {
    const tenant = await service.tenant()
    const other = await openTestStore(service.url)
    try {
      await Promise.all(
        Array.from({ length: 40 }, (_, i) => {
          const store = i % 2 === 0 ? service.store : other
          const entry = newHistoryEntry({ ...deployed(((i * 7) % 40) * day), branchName: `b${i}` })
          return store.history.record(tenant.prompt, entry)
        }),
      )
      await service.store.refresh()
      const { entries, totalCount } = await other.history.page(tenant.prompt, { page: '1', limit: 100 })
      assert.equal(totalCount, 40)
      const times = entries.map(({ createdAt }) => createdAt)
      assert.deepEqual(
        times,
        times.toSorted((a, b) => b - a),
      )
      assert.equal(entries.length, 40)
    } finally {
      await other.close()
    }
  })

  test('merges imported entries into the history that is there, each once', async () => {
    const tenant = await service.tenant()
    for (const at of [1, 3, 5]) await tenant.record({ createdAt: at * day })
    const entries = [6, 2, 4, 3, 2].map((at) => newHistoryEntry(deployed(at * day)))
    const result = await service.store.history.import(tenant.prompt, inPortions(entries.slice(0, 2), entries.slice(2)))
    assert.deepEqual(result, { imported: 3, alreadyThere: 2 })
    const page = await service.store.history.page(tenant.prompt, { page: '1', limit: 4 })
    assert.deepEqual(
      page.entries.map(({ createdAt }) => createdAt / day),
      [6, 5, 4, 3],
    )
    assert.equal(page.totalCount, 6)
  })

  test('imports nothing where the source fails in the middle', async () => {
    const tenant = await service.tenant()
    async function* failing() {
      yield [newHistoryEntry(deployed(day))]
      throw new Error('broken source')
    }
    await assert.rejects(service.store.history.import(tenant.prompt, failing()), /broken source/)
    async function* failingSignals(): AsyncGenerator<NewSignal[]> {
      yield [signalOf(tenant)]
      throw new Error('broken source')
    }
    await assert.rejects(service.store.signals.import(failingSignals()), /broken source/)
    const page = await service.store.history.page(tenant.prompt, { page: '1', limit: 25 })
    assert.equal(page.totalCount, 0)
    assert.equal(await tenant.used(), 0)
  })

  test('keeps imports that run at the same time apart', async () => {
    const [a, b] = [await service.tenant(), await service.tenant()]
    async function* slowly(from: number) {
      for (let i = 0; i < 3; i++) {
        yield [newHistoryEntry(deployed((from + i) * day))]
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    const results = await Promise.all([
      service.store.history.import(a.prompt, slowly(1)),
      service.store.history.import(b.prompt, slowly(10)),
    ])
    assert.deepEqual(results, Array(2).fill({ imported: 3, alreadyThere: 0 }))
  })

  test('imports an empty source as nothing', async () => {
    const tenant = await service.tenant()
    assert.deepEqual(await service.store.history.import(tenant.prompt, inPortions()), { imported: 0, alreadyThere: 0 })
    assert.deepEqual(await service.store.signals.import(inPortions()), { imported: 0 })
  })
})
