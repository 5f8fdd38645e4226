import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { onPostgres, postgres } from '../../../testing/engines.ts'
import { openPostgres, UnknownOutcome } from '../../src/store/postgres/database.ts'
import { statement } from '../../src/store/sql/database.ts'

onPostgres('A connection', () => {
  test('is kept after a statement or transaction that the server rejects, and replaced after it broke', async () => {
    const { url } = await postgres.create()
    const database = await openPostgres(
      url,
      1,
      () => {},
      () => {},
    )
    onTestEnd(() => database.close())
    const processId = async () => (await database.query('select pg_backend_pid() as id'))[0]?.id
    const [first, rejected] = [await processId(), { code: '22012' }]
    await assert.rejects(database.query('select 1 / 0'), rejected)
    await assert.rejects(database.attempt('select 1 / 0', []), rejected)
    await assert.rejects(database.rowsPlanned('select 1 / 0', []), rejected)
    await assert.rejects(
      database.write([statement('create table kept_1 (id bigint)'), statement('select 1 / 0')]),
      rejected,
    )
    assert.equal(await processId(), first)
    assert.deepEqual(await database.rows(`select to_regclass('kept_1') as found`), [{ found: null }])
    await assert.rejects(database.attempt('select pg_terminate_backend(pg_backend_pid())', []), UnknownOutcome)
    assert.notEqual(await processId(), first)
  })
})
