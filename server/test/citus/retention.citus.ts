import assert from 'node:assert/strict'
import { it } from 'node:test'
import pg from 'pg'
import { runSql } from '../../../testing/citus.ts'
import { closeOnTestEnd } from '../../../testing/cleanup.ts'
import { nodesOf, postgres } from '../../../testing/engines.ts'
import { openTestStore } from '../../../testing/service.ts'
import { inBatches } from '../../../testing/signals.ts'
import { day } from '../../src/domain/time.ts'

it('a month with a reader on a worker is removed later, and nothing waits longer than the lock timeout for it', async () => {
  const { url } = await postgres.create()
  const store = await openTestStore(url)
  closeOnTestEnd(() => store.close())
  const createdAt = Date.now() - 70 * day
  const signal = { organisationId: 1, promptId: 1, value: 'positive' as const, metadata: null, createdAt }
  await store.signals.import(inBatches([signal]))
  const readers = await Promise.all(nodesOf(url).slice(1).map(readOldestMonth))

  const remove = () => store.signals.removeBatch(Date.now() - 35 * day)
  await assert.rejects(remove(), /lock timeout/)
  await Promise.all(readers.map((release) => release()))
  await remove()
  assert.deepEqual(await runSql(url, ['select 1 from signals']), [])
})

/** Reads a part of the oldest month until the returned function is called. */
async function readOldestMonth(worker: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: worker })
  await client.connect()
  const release = closeOnTestEnd(() => client.end())
  // Citus hides the tables of shards from queries of the catalogue.
  await client.query('set citus.override_table_visibility = off')
  const { rows } = await client.query(
    `select min(relname) as shard from pg_class where relkind = 'r' and relname ~ '^signals_\\d{4}_\\d{2}_\\d+$'`,
  )
  await client.query('begin')
  await client.query(`select 1 from ${rows[0].shard}`)
  return release
}
