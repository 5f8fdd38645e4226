import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { promptledger, startServe } from '../../../testing/command.ts'
import { type Engine, onEachEngine, postgres, sqlite, type TestDatabase } from '../../../testing/engines.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { type PostgresServer, startPostgres } from '../../../testing/postgres.ts'
import { inPortions } from '../../../testing/recording.ts'
import { queryRows, TestService } from '../../../testing/service.ts'
import { doctor } from '../../src/doctor/doctor.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newVault } from '../../src/domain/repositories/vault.ts'
import { eraseSignals, metadataQuery } from '../../src/domain/signals/erasure.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import { hourStart, monthStart, nextMonthStart } from '../../src/domain/time.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import { syncWithLease } from '../../src/follow/worker.ts'
import { partitionOf } from '../../src/store/postgres/months.ts'

const day = 86_400_000

// The server that the other tests share keeps nothing safe, for speed, which is one of the things that are looked for.
let server: PostgresServer
before(async () => {
  server = await startPostgres()
  process.env.TEST_DATABASE_URL = server.url
})
after(() => server.stop())

async function query(url: string, sql: string): Promise<void> {
  await queryRows(url, sql)
}

interface Used {
  engine: Engine
  service: TestService
  env: NodeJS.ProcessEnv
  organisation: number
  prompt: number
  publicId: string
  /** Of an hour that has signals. */
  hour: number
}

/** A database with some of everything that is done to one, and settings that fit. */
async function usedDatabase(engine: Engine, git: GitRepository): Promise<Used> {
  const service = new TestService()
  // As now: the clock is one of the things that are looked at.
  service.now = Date.now()
  await service.open(engine)
  const { store, url } = service
  const key = randomBytes(32)
  service.follow = { ...service.follow, vault: newVault(key) }
  const tenant = await service.tenant('team', 'admin')
  const other = await service.tenant()
  for (const [i, value] of ['positive', 'negative', 'positive', 'positive'].entries()) {
    const metadata = { user: `u-${i % 2}` }
    for (const client of [tenant, other]) {
      const answer = await client.signal({ value, metadata }, { 'idempotency-key': `k-${i}` })
      assert.equal(answer.statusCode, 201)
      if (i === 3) await store.signals.retract(client.prompt, answer.json().data.id, service.now, operator)
    }
  }
  const ofTenant = { organisationId: tenant.organisation.id, promptId: tenant.prompt.id, metadata: null }
  const ages = [0, 1, 20, 40, 70, 100, 400].flatMap((days) => [days * day, days * day])
  const old = ages.map((age) => ({ ...ofTenant, value: 'negative' as const, createdAt: service.now - age }))
  await store.signals.import(inPortions(old))
  const { id: keyId } = (await store.keys.list(tenant.organisation.id))[0] as { id: number }
  const access = { organisationId: tenant.organisation.id, keyId }
  assert.equal(await eraseSignals(store.signals, access, metadataQuery('{"user":"u-1"}'), service.now), 1)
  await removeOldSignals(store.signals, 60, service.now)
  // Not in the order of time, which renumbers them.
  for (const age of [3, 1, 2])
    await tenant.record({ createdAt: service.now - age * day, commitSha: `${age}`.repeat(40) })
  const connection = {
    forge: 'github',
    url: git.remote,
    path: '*.md',
    similarity: 100,
    token: null,
    secret: null,
  } as const
  const { lease } = await connectRepository(
    service.follow,
    { ...connection, organisationId: other.organisation.id },
    operator,
  )
  await syncWithLease(service.follow, lease)
  await store.prompts.delete(other.prompt, service.now, operator)
  return {
    engine,
    service,
    env: { DATABASE_URL: url, DATA_DIR: service.follow.dataDir, PROMPTLEDGER_SECRET_KEY: key.toString('hex') },
    organisation: tenant.organisation.id,
    prompt: tenant.prompt.id,
    publicId: tenant.prompt.publicId,
    hour: hourStart(service.now),
  }
}

function statesOf(findings: Finding[]): Record<string, string> {
  return Object.fromEntries(findings.filter(({ state }) => state !== 'ok').map(({ check, state }) => [check, state]))
}

/** That this is what the doctor finds, and nothing else. */
async function assertFinds(
  { env }: { env: NodeJS.ProcessEnv },
  expected: { check: string; state?: Finding['state']; found: RegExp; todo: RegExp },
  now = Date.now,
): Promise<void> {
  const findings = await doctor(env, now)
  assert.deepEqual(statesOf(findings), { [expected.check]: expected.state ?? 'wrong' }, JSON.stringify(findings))
  const finding = findings.find(({ check }) => check === expected.check)
  assert.match(finding?.found ?? '', expected.found)
  assert.match(finding?.todo ?? '', expected.todo)
}

const guide = readFileSync(new URL('../../../docs/operations/doctor.md', import.meta.url), 'utf8')

/** What the guide says under a heading, with the names filled in. */
async function mend(url: string, heading: string, values: Record<string, number>): Promise<void> {
  const section = guide.split('\n## ').find((text) => text.startsWith(`${heading}\n`)) as string
  const [, sql] = /```sql\n(.*?)```/s.exec(section) as unknown as [string, string]
  const filled = sql.replaceAll(/:(\w+)/g, (_, name) => String(values[name]))
  for (const statement of filled.split(';').filter((text) => text.trim() !== '')) await query(url, statement)
}

onEachEngine('The doctor', (engine) => {
  const git = new GitRepository()
  let used: Used
  before(async () => {
    git.commit('Start', { 'p.md': 'Be kind.\n' })
    git.commit('Be kinder', { 'p.md': 'Be very kind.\n' })
    git.push()
    used = await usedDatabase(engine, git)
  })
  after(async () => {
    await used.service.close()
    git.remove()
  })
  const sql = (text: string) => query(used.service.url, text)

  test('finds nothing in a database that was really used, beside its service, and changes nothing', async () => {
    const running = await startServe({ ...used.env, PROMPTLEDGER_FIRST_RUN: 'off' })
    const tables = ['signals', 'signal_hours', 'signal_usage', 'prompts', 'audit', 'schema_migrations', 'readiness']
    const contents = () => Promise.all(tables.map((table) => queryRows(used.service.url, `select * from ${table}`)))
    const earlier = await contents()
    const { code, stdout, stderr } = await promptledger(used.env, ['doctor'])
    assert.equal(stderr, '')
    assert.equal(code, 0)
    const lines = stdout.trimEnd().split('\n')
    assert.deepEqual(
      lines.filter((line) => !/^ok {7}[a-z ]+: ./.test(line)),
      [],
    )
    for (const check of [
      'settings',
      'database',
      'migrations',
      'clock',
      'usage',
      'hours',
      'history',
      'belonging',
      'git',
    ]) {
      assert.ok(lines.some((line) => line.startsWith(`ok       ${check}:`), check))
    }
    assert.match(stdout, /22 signals of 2 organisations/)
    assert.match(stdout, /5 entries/)
    assert.match(stdout, /opens all of 1 stored secrets/)
    assert.deepEqual(await contents(), earlier)
    await running.stop()
  })

  test('finds nothing while signals are recorded and taken back all the time', async () => {
    const { service } = used
    const tenant = await service.tenant('business')
    let over = false
    const busy = Array.from({ length: 4 }, async () => {
      while (!over) {
        const { id } = (await tenant.signal({ value: 'positive' })).json().data
        await service.store.signals.retract(tenant.prompt, id, Date.now(), operator)
      }
    })
    const found: object[] = []
    for (let times = 0; times < 10; times++) found.push(statesOf(await doctor(used.env)))
    over = true
    await Promise.all(busy)
    assert.deepEqual(found, Array(10).fill({}))
  })

  test('ends with status 1 and one line on standard error where something is wrong; --json prints one value', async () => {
    await sql('update prompts set history_count = history_count + 1 where history_count = 3')
    const { code, stdout, stderr } = await promptledger(used.env, ['doctor', '--json'])
    await sql('update prompts set history_count = history_count - 1 where history_count = 4')
    assert.equal(code, 1)
    assert.match(stderr, /^promptledger: 1 of \d+ checks found something wrong\n$/)
    const findings: Finding[] = JSON.parse(stdout)
    assert.deepEqual(statesOf(findings), { history: 'wrong' })
    for (const finding of findings) assert.deepEqual(Object.keys(finding), ['check', 'state', 'found', 'todo'])
  })

  test('names a month that is counted too low, and what the guide says mends it', async () => {
    const { service, organisation } = used
    const month = monthStart(service.now - 400 * day)
    await sql(`update signal_usage set used = used - 1 where organisation_id = ${organisation} and month = ${month}`)
    const found = new RegExp(`^organisation ${organisation} in \\d{4}-\\d{2}: \\d+ counted, \\d+ recorded$`)
    await assertFinds(used, { check: 'usage', found, todo: /doctor\.md#usage/ })
    await mend(service.url, 'usage', { organisation, month, next_month: nextMonthStart(month) })
    assert.deepEqual(statesOf(await doctor(used.env)), {})
  })

  test('names an organisation for which more is gone than was taken back or erased', async () => {
    const { organisation } = used
    const change = (by: string) =>
      sql(`update signal_usage set used = used ${by} where organisation_id = ${organisation} and month = (
        select min(month) from signal_usage where organisation_id = ${organisation})`)
    await change('+ 2')
    const found = new RegExp(`^organisation ${organisation}: 4 more counted than in the sums, 2 taken back or erased$`)
    await assertFinds(used, { check: 'usage', found, todo: /doctor\.md#usage/ })
    // Whoever took a signal back before there was an audit left no trace of it.
    await sql('update schema_migrations set applied_at = applied_at - 100000 where version = 1')
    await assertFinds(used, { check: 'usage', state: 'warning', found, todo: /before there was an audit/ })
    await sql('update schema_migrations set applied_at = applied_at + 100000 where version = 1')
    await change('- 2')
  })

  test('names an hour whose sum is not its signals, and what the guide says mends it', async () => {
    const { service, organisation, prompt, hour } = used
    const values = { organisation, prompt, hour }
    const of = `where organisation_id = ${organisation} and prompt_id = ${prompt} and hour = ${hour}`
    await sql(`update signal_hours set positive = positive + 1, negative = negative - 1 ${of}`)
    const found = new RegExp(
      `^organisation ${organisation}, prompt ${prompt}, \\S+:00:00.000Z: 3 positive and \\d negative in`,
    )
    await assertFinds(used, { check: 'hours', found, todo: /doctor\.md#hours/ })
    await mend(service.url, 'hours', values)
    await sql(`delete from signal_hours ${of}`)
    assert.equal(statesOf(await doctor(used.env)).hours, 'wrong')
    await mend(service.url, 'hours', values)
    assert.deepEqual(statesOf(await doctor(used.env)), {})
  })

  test('names hours from before what is kept only where they have more signals than their sum', async () => {
    const { organisation, prompt, service } = used
    const createdAt = service.now - 400 * day
    const of = `where organisation_id = ${organisation} and prompt_id = ${prompt} and created_at = ${createdAt}`
    const values = `(organisation_id, prompt_id, value, created_at) values (${organisation}, ${prompt}, 'positive', ${createdAt})`
    if (engine.name === 'PostgreSQL') {
      const month = monthStart(createdAt)
      const span = `from (${month}) to (${nextMonthStart(month)})`
      await sql(`create table ${partitionOf(month)} partition of signals for values ${span}`)
    }
    await sql(`insert into signals ${values}`)
    await assertFinds(used, {
      check: 'hours',
      found: /0 positive and 2 negative in the sum, 1 and 0 stored/,
      todo: /#hours/,
    })
    await sql(`delete from signals ${of}`)
  })

  test('names a prompt whose entries are counted or numbered wrongly, and what the guide says mends it', async () => {
    const { service, organisation, prompt, publicId } = used
    const of = `where organisation_id = ${organisation} and prompt_id = ${prompt}`
    for (const [change, found] of [
      [
        `update history_entries set position = 3 - position ${of} and position < 3`,
        '3 counted, 3 stored, 2 in a wrong place',
      ],
      [`update history_entries set position = 7 ${of} and position = 3`, '3 counted, 3 stored, 1 in a wrong place'],
      [
        `update prompts set history_count = 2 where public_id = '${publicId}'`,
        '2 counted, 3 stored, 0 in a wrong place',
      ],
    ] as const) {
      await sql(change)
      await assertFinds(used, { check: 'history', found: new RegExp(`^${publicId}: ${found}$`), todo: /#history/ })
      await mend(service.url, 'history', { organisation, prompt })
      assert.deepEqual(statesOf(await doctor(used.env)), {})
    }
  })

  test('names what belongs to another organisation than its prompt, repository or key', async () => {
    const { organisation, prompt } = used
    const other = organisation + 1
    await sql(`update edits set organisation_id = ${organisation}`)
    await sql(`update signals set organisation_id = ${other} where prompt_id = ${prompt}`)
    const findings = await doctor(used.env)
    await sql(`update edits set organisation_id = ${other}`)
    await sql(`update signals set organisation_id = ${organisation} where prompt_id = ${prompt}`)
    assert.deepEqual(statesOf(findings), { hours: 'wrong', belonging: 'wrong' })
    const { found, todo } = findings.find(({ check }) => check === 'belonging') as Finding
    assert.match(found, /\d+ of signals, by prompt_id; 2 of edits, by prompt_id; 2 of edits, by repository_id$/)
    assert.match(todo ?? '', /doctor\.md#belonging/)
    assert.deepEqual(statesOf(await doctor(used.env)), {})
  })

  test('names a database that is newer, older or was changed by hand, and counts nothing in it', async () => {
    const rename = (from: number, to: number) =>
      sql(`update schema_migrations set version = ${to} where version = ${from}`)
    const [row] = await queryRows(used.service.url, 'select max(version) as version from schema_migrations')
    const newest = Number(row?.version)
    await sql(`insert into schema_migrations (version, name, applied_at) values (${newest + 1}, 'later', 0)`)
    const found = new RegExp(`at version ${newest + 1}, this Promptledger at ${newest}$`)
    await assertFinds(used, { check: 'migrations', found, todo: /Update Promptledger/ })
    await sql(`delete from schema_migrations where version = ${newest + 1}`)
    await sql(`delete from schema_migrations where version = ${newest}`)
    await rename(2, newest)
    await assertFinds(used, { check: 'migrations', found: /but \d of its migrations are on record/, todo: /backup/ })
    await rename(newest, 2)
    const older = new RegExp(`at version ${newest - 1}, this Promptledger at ${newest}$`)
    await assertFinds(used, { check: 'migrations', state: 'warning', found: older, todo: /promptledger migrate/ })
    const findings = await doctor(used.env)
    assert.ok(!findings.some(({ check }) => check === 'usage'))
    const [still] = await queryRows(used.service.url, 'select max(version) as version from schema_migrations')
    assert.equal(Number(still?.version), newest - 1)
    const { now } = used.service
    await sql(`insert into schema_migrations (version, name, applied_at) values (${newest}, 'again', ${now})`)
  })

  test('names an empty database', async () => {
    const database = engine.name === 'SQLite' ? await engine.create() : { url: server.url, remove: async () => {} }
    // On SQLite a file without anything in it.
    if (engine.name === 'SQLite') await query(database.url, 'pragma user_version = 1')
    const finding = (await doctor({ ...used.env, DATABASE_URL: database.url })).find(
      ({ check }) => check === 'migrations',
    )
    assert.equal(finding?.state, 'wrong')
    assert.match(`${finding?.found} ${finding?.todo}`, /empty .*promptledger migrate/)
    await database.remove()
  })

  test('names records of the future', async () => {
    const behind = () => Date.now() - 50 * day
    const findings = await doctor(used.env, behind)
    const finding = findings.find(({ check }) => check === 'clock')
    assert.equal(finding?.state, 'wrong')
    assert.match(finding?.todo ?? '', /NTP/)
    if (engine.name === 'SQLite') assert.match(finding?.found ?? '', /^the newest record is of /)
  })

  test('names a secret key that does not open what was stored with it, or is missing', async () => {
    const env = { ...used.env, PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex') }
    const todo = /Bring back the key/
    await assertFinds({ env }, { check: 'secret key', found: /does not open 1 of 1 stored secrets/, todo })
    await assertFinds(
      { env: { ...env, PROMPTLEDGER_SECRET_KEY: '' } },
      { check: 'secret key', found: /(there is no .*secret\.key|is not set), and 1 secrets are stored/, todo },
    )
  })

  test('names settings that make no sense, and looks at the rest all the same', async () => {
    const env = { ...used.env, PORT: 'many', LOG_LEVEL: 'loud' }
    await assertFinds(
      { env },
      { check: 'settings', found: /PORT must be .*; LOG_LEVEL must be/, todo: /\.env\.example/ },
    )
    const open = { ...used.env, HOST: '0.0.0.0' }
    await assertFinds({ env: open }, { check: 'settings', state: 'warning', found: /PUBLIC_URL/, todo: /Set it/ })
  })

  test('names a git that is missing or too old', async () => {
    const path = process.env.PATH
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-path-'))
    process.env.PATH = folder
    try {
      await assertFinds(used, { check: 'git', found: /git is not installed/, todo: /Install git 2\.31 or newer/ })
      writeFileSync(join(folder, 'git'), '#!/bin/sh\necho git version 2.30.9\n', { mode: 0o755 })
      await assertFinds(used, { check: 'git', found: /2\.30\.9 is too old/, todo: /Install git 2\.31 or newer/ })
    } finally {
      process.env.PATH = path
    }
    await rm(folder, { recursive: true })
  })

  test('names a data folder without room', { skip: process.platform === 'linux' ? false : 'needs /proc' }, async () => {
    const { PROMPTLEDGER_SECRET_KEY, DATABASE_URL } = used.env
    const env = { PROMPTLEDGER_SECRET_KEY, DATABASE_URL, DATA_DIR: '/proc' }
    await assertFinds(
      { env },
      { check: 'data folder', found: /(^0 MB free in \/proc|cannot be written)/, todo: /room|Give/ },
    )
  })
})

describe('The doctor of a SQLite file', () => {
  let database: TestDatabase
  let file: string
  let env: NodeJS.ProcessEnv
  before(async () => {
    database = await sqlite.create()
    env = { DATABASE_URL: database.url }
    file = database.url.slice('sqlite:'.length)
    assert.equal((await promptledger(env, ['org', 'create', 'Acme'])).code, 0)
  })
  after(() => database.remove())

  test('names a file that is not there, makes none, and looks at the machine all the same', async () => {
    const missing = join(dirname(file), 'elsewhere', 'none.db')
    const findings = await doctor({ DATABASE_URL: `sqlite:${missing}` })
    assert.deepEqual(statesOf(findings), { database: 'wrong' })
    assert.match(findings[1]?.found ?? '', /there is no file .*none\.db/)
    assert.match(findings[1]?.todo ?? '', /DATABASE_URL/)
    for (const check of ['git', 'data folder']) assert.ok(findings.some((finding) => finding.check === check))
    assert.equal(existsSync(dirname(missing)), false)
  })

  test('names a file that is damaged, or is none of SQLite', async () => {
    const damaged = join(dirname(file), 'damaged.db')
    copyFileSync(file, damaged)
    // Not the first pages, which say what is where.
    writeSync(openSync(damaged, 'r+'), randomBytes(8_192), 0, 8_192, statSync(damaged).size / 2)
    const first = (await doctor({ DATABASE_URL: `sqlite:${damaged}` })).find(({ check }) => check === 'database')
    assert.equal(first?.state, 'wrong')
    assert.match(`${first?.found}. ${first?.todo}`, /is damaged: .*backup/)
    writeFileSync(damaged, randomBytes(8_192))
    const second = (await doctor({ DATABASE_URL: `sqlite:${damaged}` })).find(({ check }) => check === 'database')
    assert.equal(second?.state, 'wrong')
    assert.match(second?.found ?? '', /file is not a database/)
  })

  test('names a file or folder that cannot be written', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-readonly-'))
    const copy = join(folder, 'copy.db')
    copyFileSync(file, copy)
    chmodSync(copy, 0o444)
    if (process.getuid?.() === 0) for (const path of [folder, copy]) chownSync(path, nobody, nobody)
    assert.match(await unprivileged(copy), /^wrong {4}database file: .*copy\.db cannot be written: EACCES.*Give it to/m)
    chmodSync(copy, 0o644)
    await rm(`${copy}-wal`, { force: true })
    await rm(`${copy}-shm`, { force: true })
    chmodSync(folder, 0o555)
    const output = await unprivileged(copy)
    assert.match(output, /^wrong {4}database: it cannot be opened: .*promptledger-readonly-\S+ cannot be written/m)
    assert.match(output, /^wrong {4}data folder: .*cannot be written: EACCES.*DATA_DIR/m)
    chmodSync(folder, 0o755)
    await rm(folder, { recursive: true })
  })

  test('names a file that is not in write-ahead mode, and a log that has grown', async () => {
    await query(database.url, 'pragma journal_mode = delete')
    await assertFinds({ env }, { check: 'database log', state: 'warning', found: /mode is delete/, todo: /Restart/ })
    await query(database.url, 'pragma journal_mode = wal')
    // Sparse, so that it takes no room.
    writeFileSync(`${file}-wal`, '')
    truncateSync(`${file}-wal`, 300 * 1024 * 1024)
    await assertFinds(
      { env },
      { check: 'database log', state: 'warning', found: /grown to 300 MB/, todo: /End whatever/ },
    )
    await rm(`${file}-wal`)
  })

  test('names a key file that others may read', async () => {
    writeFileSync(join(dirname(file), 'secret.key'), randomBytes(32).toString('hex'), { mode: 0o644 })
    await assertFinds(
      { env },
      { check: 'secret key', state: 'warning', found: /others on this machine/, todo: /chmod 600/ },
    )
  })
})

test('The doctor looks at the machine even where DATABASE_URL makes no sense, and does not repeat it', async () => {
  const findings = await doctor({ DATABASE_URL: 'mysql://me:PASSWORD@example.com/ledger' })
  assert.deepEqual(statesOf(findings), { settings: 'wrong' })
  assert.match(findings[0]?.found ?? '', /DATABASE_URL must be sqlite:/)
  assert.equal(findings[1]?.check, 'git')
  assert.doesNotMatch(JSON.stringify(findings), /PASSWORD/)
})

const nobody = 65_534
const source = new URL('../../src/doctor/', import.meta.url)

/** What the doctor prints as a user who is not root. Its files are read before, since that user may not see the checkout. */
async function unprivileged(file: string): Promise<string> {
  const program = `
    const { doctor, describeFindings } = await import(${JSON.stringify(new URL('doctor.ts', source).href)})
    await import(${JSON.stringify(new URL('sqlite.ts', source).href)})
    if (process.getuid() === 0) { process.setgroups([]); process.setgid(${nobody}); process.setuid(${nobody}) }
    console.log(describeFindings(await doctor({ DATABASE_URL: ${JSON.stringify(`sqlite:${file}`)} })))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  })
  return stdout
}

describe('The doctor of a PostgreSQL database', () => {
  let database: TestDatabase
  let env: NodeJS.ProcessEnv
  const name = () => new URL(database.url).pathname.slice(1)
  const sql = (text: string) => query(database.url, text)
  before(async () => {
    database = await postgres.create()
    env = { DATABASE_URL: database.url, PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex') }
    assert.equal((await promptledger(env, ['org', 'create', 'Acme'])).code, 0)
    assert.deepEqual(statesOf(await doctor(env)), {})
  })
  after(() => database.remove())

  test('names a server that is not reached or refuses us, without the password, and looks at the machine all the same', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const urls = [
      `postgres://me:PASSWORD@127.0.0.1:${port}/ledger?sslpassword=PASSWORD`,
      database.url.replace('postgres@', 'stranger:PASSWORD@'),
    ]
    for (const url of urls) {
      const { code, stdout, stderr } = await promptledger({ ...env, DATABASE_URL: url }, ['doctor'])
      assert.equal(code, 1)
      assert.match(
        stdout,
        /^wrong {4}database: it cannot be opened: 127\.0\.0\.1:\d+\/\w+: (.*ECONNREFUSED|role "stranger")/m,
      )
      for (const check of ['settings', 'secret key', 'git', 'data folder'])
        assert.match(stdout, new RegExp(`^ok {7}${check}:`, 'm'))
      assert.doesNotMatch(stdout + stderr, /PASSWORD/)
    }
  })

  test('names durability that is switched off', async () => {
    await sql(`alter database ${name()} set synchronous_commit = off`)
    await assertFinds({ env }, { check: 'durability', found: /^synchronous_commit off/, todo: /Switch it on/ })
    await sql(`alter database ${name()} reset synchronous_commit`)
  })

  test('names a pool that the server has no room for', async () => {
    const large = { ...env, DATABASE_POOL_SIZE: '400' }
    await assertFinds(
      { env: large },
      { check: 'connections', found: /is 400 .* have 297/, todo: /Raise max_connections/ },
    )
    await sql(`alter database ${name()} connection limit 12`)
    const clients = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const client = new pg.Client({ connectionString: database.url })
        await client.connect()
        return client
      }),
    )
    const found = /is 10 for each process, the server lets us have 12, others hold 5$/
    await assertFinds({ env }, { check: 'connections', state: 'warning', found, todo: /lower DATABASE_POOL_SIZE/ })
    for (const client of clients) await client.end()
    await sql(`alter database ${name()} connection limit -1`)
  })

  test('names months that have no partition, or a table of that name that is none', async () => {
    const table = partitionOf(nextMonthStart(Date.now()))
    await sql(`alter table signals detach partition ${table}`)
    await assertFinds(
      { env },
      { check: 'months', found: new RegExp(`${table} is no partition`), todo: /attach partition/ },
    )
    await sql(`drop table ${table}`)
    const found = new RegExp(`^there is no ${table} yet$`)
    await assertFinds({ env }, { check: 'months', state: 'warning', found, todo: /see that it runs/ })
    assert.equal((await promptledger(env, ['migrate'])).code, 0)
    assert.deepEqual(statesOf(await doctor(env)), {})
  })

  test('names what the role may not do', async () => {
    const role = `clerk_${randomBytes(6).toString('hex')}`
    await sql(`create role ${role} login`)
    await sql(`grant select on all tables in schema public to ${role}`)
    await sql(`revoke temporary on database ${name()} from public`)
    const findings = await doctor({ ...env, DATABASE_URL: database.url.replace('postgres@', `${role}@`) })
    assert.deepEqual(statesOf(findings), { rights: 'wrong' })
    const finding = findings.find(({ check }) => check === 'rights')
    const found = new RegExp(
      `^${role} lacks create on schema public, temporary on the database, ownership of .*\\bsignals\\b`,
    )
    assert.match(finding?.found ?? '', found)
    assert.match(finding?.todo ?? '', /Grant it/)
    await sql(`drop owned by ${role}`)
    await sql(`drop role ${role}`)
  })

  test('names a clock that is not the one of the server', async () => {
    const ahead = (by: number) => () => Date.now() + by
    const check = 'clock'
    await assertFinds({ env }, { check, found: /^1[12]\d\.\d s away/, todo: /NTP/ }, ahead(120_000))
    await assertFinds({ env }, { check, state: 'warning', found: /^[4-5]\.\d s away/, todo: /NTP/ }, ahead(5_000))
  })

  test('waits for nobody who has locked a table', async () => {
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('begin')
    await holder.query('lock table edits in access exclusive mode')
    const findings = await doctor(env)
    await holder.query('rollback')
    await holder.end()
    assert.deepEqual(statesOf(findings), { belonging: 'wrong' })
    assert.match(
      findings.find(({ check }) => check === 'belonging')?.found ?? '',
      /could not be looked at: .*lock timeout/,
    )
  })
})
