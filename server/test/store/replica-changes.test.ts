import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { onPostgres, postgres } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { lockWaiters } from '../../../testing/lock-waiters.ts'
import { openTestStore } from '../../../testing/service.ts'

onPostgres('A check for changes by other processes', () => {
  test('starts before requests need it, so that they wait only for one that takes too long', async (t) => {
    const { url, remove } = await postgres.create()
    onTestEnd(remove)
    const store = await openTestStore(url)
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    onTestEnd(() => other.end())
    let now = performance.now()
    t.mock.method(performance, 'now', () => now)
    await store.refresh()

    await other.query('begin; lock table change_counter in access exclusive mode')
    now += 6
    await store.refresh()
    await eventually(async () => (await lockWaiters(url)) === 1)
    now += 3
    await store.refresh()

    const generation = store.cacheGeneration()
    now += 2
    let isFresh = false
    const late = store.refresh().then(() => {
      isFresh = true
    })
    await other.query('update change_counter set changes = changes + 1')
    assert.equal(isFresh, false)
    await other.query('commit')
    await late
    assert.equal(store.cacheGeneration(), generation + 1)
  })
})
