import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'
import { before, describe, test } from 'node:test'
import pg from 'pg'
import { runCli } from '../../../testing/cli.ts'
import { postgres, type TestDatabase } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { doctor } from '../../src/doctor/doctor.ts'
import { nextMonthStart } from '../../src/domain/time.ts'
import { allocator } from '../../src/service/allocator.ts'
import { partitionName } from '../../src/store/postgres/partitions.ts'
import { assertFinds, problemsIn, query } from './doctor-findings.ts'
import './doctor-server.ts'

describe('The doctor on a PostgreSQL database', () => {
  let database: TestDatabase
  let env: NodeJS.ProcessEnv
  const name = () => new URL(database.url).pathname.slice(1)
  const sql = (text: string) => query(database.url, text)
  before(async () => {
    database = await postgres.create()
    env = { ...allocator, DATABASE_URL: database.url, PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex') }
    assert.equal((await runCli(env, ['org', 'create', 'Acme'])).code, 0)
    assert.deepEqual(problemsIn(await doctor(env)), {})
  })

  test('a server that is unreachable or rejects the login is reported without the password, and the checks of the machine still run', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const urls = [
      `postgres://me:PASSWORD@127.0.0.1:${port}/ledger?sslpassword=PASSWORD`,
      database.url.replace('postgres@', 'stranger:PASSWORD@'),
    ]
    for (const url of urls) {
      const { code, stdout, stderr } = await runCli({ ...env, DATABASE_URL: url }, ['doctor'])
      assert.equal(code, 1)
      assert.match(
        stdout,
        /^error {4}database: cannot be opened: 127\.0\.0\.1:\d+\/\w+: (.*ECONNREFUSED|role "stranger")/m,
      )
      for (const check of ['settings', 'git', 'data directory'])
        assert.match(stdout, new RegExp(`^ok {7}${check}:`, 'm'))
      assert.match(stdout, /^warning {2}secret key: not checked/m)
      assert.doesNotMatch(stdout + stderr, /PASSWORD/)
    }
  })

  test('durability that is switched off is reported', async () => {
    await sql(`alter database ${name()} set synchronous_commit = off`)
    await assertFinds({ env }, { check: 'durability', message: /^synchronous_commit = off/, fix: /Turn it on/ })
    await sql(`alter database ${name()} reset synchronous_commit`)
  })

  test('a pool that does not fit the server, with the connections of the worker process, is reported', async () => {
    const large = { ...env, DATABASE_POOL_SIZE: '400' }
    await assertFinds(
      { env: large },
      { check: 'connections', message: /up to 405 .* is 400, and 5 .* allows 297/, fix: /Raise max_connections/ },
    )
    await sql(`alter database ${name()} connection limit 14`)
    await assertFinds({ env }, { check: 'connections', message: /up to 15 .* allows 14/, fix: /Raise max_connections/ })
    await sql(`alter database ${name()} connection limit 18`)
    const clients = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const client = new pg.Client({ connectionString: database.url })
        await client.connect()
        return client
      }),
    )
    // PostgreSQL ends a connection a little later than its client, here that of the statement above.
    await eventually(async () => {
      const counted = await clients[0]?.query(
        "select count(*)::int as n from pg_stat_activity where backend_type = 'client backend' and application_name <> 'promptledger'",
      )
      assert.equal(counted?.rows[0].n, 5)
    })
    const message = /up to 15 .* the server allows 18, other clients use 5$/
    await assertFinds({ env }, { check: 'connections', status: 'warning', message, fix: /lower DATABASE_POOL_SIZE/ })
    for (const client of clients) await client.end()
    await sql(`alter database ${name()} connection limit -1`)
  })

  test('a month without a partition, or with a plain table in its place, is reported', async () => {
    const table = partitionName(nextMonthStart(Date.now()))
    await sql(`alter table signals detach partition ${table}`)
    await assertFinds(
      { env },
      { check: 'partitions', message: new RegExp(`${table} is not a partition`), fix: /attach partition/ },
    )
    await sql(`drop table ${table}`)
    const message = new RegExp(`^missing: ${table}$`)
    await assertFinds({ env }, { check: 'partitions', status: 'warning', message, fix: /Check that it runs/ })
    assert.equal((await runCli(env, ['migrate'])).code, 0)
    assert.deepEqual(problemsIn(await doctor(env)), {})
  })

  test('missing privileges of the role are reported', async () => {
    const role = `clerk_${randomBytes(6).toString('hex')}`
    await sql(`create role ${role} login`)
    await sql(`grant select on all tables in schema public to ${role}`)
    await sql(`revoke temporary on database ${name()} from public`)
    const findings = await doctor({ ...env, DATABASE_URL: database.url.replace('postgres@', `${role}@`) })
    assert.deepEqual(problemsIn(findings), { privileges: 'error' })
    const finding = findings.find(({ check }) => check === 'privileges')
    const message = new RegExp(
      `^${role} lacks create on schema public, temporary on the database, ownership of .*\\bsignals\\b`,
    )
    assert.match(finding?.message ?? '', message)
    assert.match(finding?.message ?? '', /\btrials\b.*\bschema_migrations\b|\bschema_migrations\b.*\btrials\b/)
    assert.match(finding?.fix ?? '', /Grant the privileges/)
    await sql(`drop owned by ${role}`)
    await sql(`drop role ${role}`)
  })

  test('a clock that differs from the server clock is reported', async () => {
    const ahead = (by: number) => () => Date.now() + by
    const check = 'clock'
    await assertFinds({ env }, { check, message: /^1[12]\d\.\d s off/, fix: /NTP/ }, ahead(120_000))
    await assertFinds({ env }, { check, status: 'warning', message: /^[4-5]\.\d s off/, fix: /NTP/ }, ahead(5_000))
  })

  test('the doctor does not wait for locked tables', async () => {
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('begin')
    await holder.query('lock table edits in access exclusive mode')
    const findings = await doctor(env)
    await holder.query('rollback')
    await holder.end()
    assert.deepEqual(problemsIn(findings), { ownership: 'error' })
    assert.match(
      findings.find(({ check }) => check === 'ownership')?.message ?? '',
      /could not be checked: .*lock timeout/,
    )
  })
})
