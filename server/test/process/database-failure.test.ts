import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { runCliJson } from '../../../testing/cli.ts'
import { onEachEngine, postgres, sqlite } from '../../../testing/engines.ts'
import { sampleClient, startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'

onEachEngine('When the database fails', (engine) => {
  test('requests get 500 internal_error without the cause, the log has the cause, and the service recovers', async () => {
    const database = await engine.create()
    const service = await startServe({ DATABASE_URL: database.url })
    const sample = sampleClient(service)
    const signal = () => sample.signal('{"value":"positive","metadata":{"a":"SENSITIVE"}}')
    assert.equal((await signal()).status, 201)
    const sums = engine.name === 'SQLite' ? 'signal_hours' : 'recent_sums'
    await queryRows(database.url, `alter table ${sums} rename to elsewhere`)
    const failed = await signal()
    const body = (await failed.json()) as { error: { code: string; message: string } }
    assert.equal(failed.status, 500)
    assert.deepEqual(Object.keys(body.error), ['code', 'message'])
    assert.equal(body.error.code, 'internal_error')
    assert.doesNotMatch(body.error.message, /_sums|_hours|sql|relation|table/i)
    await queryRows(database.url, `alter table elsewhere rename to ${sums}`)
    assert.equal((await signal()).status, 201)
    await service.stop()
    const id = failed.headers.get('x-request-id') as string
    const line = service
      .output()
      .stderr.split('\n')
      .find((text) => text.includes(id))
    assert.match(line ?? '', new RegExp(sums))
    assert.doesNotMatch(service.output().stderr, /SENSITIVE/)
    const [stored] = await queryRows(database.url, 'select count(*) as n from signals')
    const [usage] = await queryRows(database.url, 'select sum(used) as used from month_usage')
    assert.deepEqual([Number(stored?.n), Number(usage?.used)], [2, 2])
  })
})

test('while another process locks the SQLite file, signals wait while reads and health checks are served', async (t) => {
  const database = await sqlite.create()
  const service = await startServe({ DATABASE_URL: database.url })
  const sample = sampleClient(service)
  const holder = new DatabaseSync(database.url.slice('sqlite:'.length))
  t.after(() => holder.close())
  holder.exec('begin immediate')
  let settled = false
  const waiting = sample.signal().finally(() => {
    settled = true
  })
  const start = performance.now()
  for (let i = 0; i < 10; i++) {
    assert.equal((await fetch(`${service.address}/healthz`)).status, 200)
    assert.equal((await sample.history()).status, 200)
  }
  // Far less than a signal waits for the lock, which is a minute.
  assert.ok(performance.now() - start < 20_000)
  assert.equal(settled, false)
  assert.equal((await fetch(`${service.address}/readyz`)).status, 503)
  assert.ok(performance.now() - start < 30_000)
  holder.exec('rollback')
  assert.equal((await waiting).status, 201)
  await service.stop()
})

test('without its PostgreSQL the service is alive but not ready, and it is ready again once PostgreSQL is back', async () => {
  const { startPostgres } = await import('../../../testing/postgres.ts')
  const postgres = await startPostgres()
  const service = await startServe({ DATABASE_URL: postgres.url })
  const sample = sampleClient(service)
  assert.equal((await sample.history()).status, 200)
  await postgres.pause()
  assert.equal((await fetch(`${service.address}/healthz`)).status, 200)
  const unready = await fetch(`${service.address}/readyz`)
  assert.equal(unready.status, 503)
  assert.partialDeepStrictEqual(await unready.json(), { error: { code: 'internal_error' } })
  assert.equal((await sample.history()).status, 500)
  await postgres.resume()
  assert.equal((await fetch(`${service.address}/readyz`)).status, 200)
  assert.equal((await sample.history()).status, 200)
  assert.deepEqual(((await runCliJson(postgres.url, ['org', 'list'])) as object[]).length, 1)
  await service.stop()
  await postgres.stop()
})

test('connections that PostgreSQL terminates cost responses, but no acknowledged signal and not the process', async () => {
  const database = await postgres.create()
  const service = await startServe({ DATABASE_URL: database.url })
  const sample = sampleClient(service)
  let cutting = true
  let [stored, failed] = [0, 0]
  const send = async () => {
    while (cutting) {
      const response = await sample.signal()
      if (response.status === 201) stored++
      else if (response.status === 500) failed++
      else break
      await fetch(`${service.address}/readyz`)
    }
  }
  const senders = Promise.all(Array.from({ length: 8 }, send))
  const deadline = performance.now() + 30_000
  // A fast service may have no statement under way at a cut, and a slow one may store nothing between two: more follow until both happened.
  for (let i = 0; i < 30 || ((failed === 0 || stored === 0) && performance.now() < deadline); i++) {
    await queryRows(
      database.url,
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'promptledger' and datname = current_database()",
    )
    // Spread the cuts over time, so that they hit connections in every state.
    await delay(i < 30 ? 20 : 500)
  }
  cutting = false
  await senders
  assert.equal(service.process.exitCode, null)
  assert.equal((await fetch(`${service.address}/readyz`)).status, 200)
  assert.equal(await service.stop(), 0)
  const [row] = await queryRows(database.url, 'select count(*) as n from signals')
  const [usage] = await queryRows(database.url, 'select sum(used) as used from month_usage')
  assert.ok(stored > 0 && failed > 0, `${stored} stored, ${failed} failed`)
  assert.ok(Number(row?.n) >= stored, `${row?.n} stored, ${stored} acknowledged`)
  assert.equal(Number(usage?.used), Number(row?.n))
})
