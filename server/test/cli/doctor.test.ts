import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { addAlert } from '../../../testing/alerts.ts'
import { runCli } from '../../../testing/cli.ts'
import { isCitus, onEachEngine, serverUrl } from '../../../testing/engines.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { checkAllocator } from '../../src/doctor/allocator.ts'
import { doctor } from '../../src/doctor/doctor.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import { openPostgres } from '../../src/doctor/postgres.ts'
import { missingParts, type SchemaPart } from '../../src/doctor/schema.ts'
import { openSqlite } from '../../src/doctor/sqlite.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { monthStart, nextMonthStart } from '../../src/domain/time.ts'
import { partitionName } from '../../src/store/postgres/partitions.ts'
import { assertFinds, problemsIn, query } from './doctor-findings.ts'
import './doctor-server.ts'
import { type Used, usedDatabase } from './used-database.ts'

const day = 86_400_000

const guide = readFileSync(new URL('../../../docs/operations/doctor.md', import.meta.url), 'utf8')

/** Runs the SQL that the guide gives under a heading, with its parameters filled in. */
async function applyFix(url: string, heading: string, values: Record<string, number | string>): Promise<void> {
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

  test('a database in which a signal cannot be recorded is reported, whatever the reason', async () => {
    const [breaking, mending] =
      engine.name === 'SQLite'
        ? [
            `create trigger broken before insert on signal_subjects begin select raise(abort, 'broken'); end`,
            'drop trigger broken',
          ]
        : [
            'alter table signal_subjects add constraint broken check (vote_id < 0) not valid',
            'alter table signal_subjects drop constraint broken',
          ]
    await sql(breaking)
    await assertFinds(used, {
      check: 'recording',
      message: /^a signal of organisation \d+ cannot be recorded: .*broken/,
      fix: /answered with 500/,
    })
    await sql(mending)
  })

  test('the doctor reports no problem in a used database beside its running service, and changes nothing', async () => {
    const running = await startServe({ ...used.env, PROMPTLEDGER_FIRST_RUN: 'off' })
    const tables = ['signals', 'signal_hours', 'signal_usage', 'prompts', 'audit', 'schema_migrations', 'readiness']
    // Several servers return their rows in any order.
    const rowsOf = async (table: string) =>
      (await queryRows(used.service.url, `select * from ${table}`)).map((row) => JSON.stringify(row)).sort()
    const contents = () => Promise.all(tables.map(rowsOf))
    const earlier = await contents()
    const { code, stdout, stderr } = await runCli(used.env, ['doctor'])
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
      'versions',
      'subjects',
      'history',
      'ownership',
      'git',
    ]) {
      assert.ok(lines.some((line) => line.startsWith(`ok       ${check}:`), check))
    }
    assert.match(stdout, /25 signals of 2 organisations/)
    assert.match(stdout, /5 entries/)
    assert.match(stdout, /decrypts all of 1 stored secret/)
    assert.deepEqual(await contents(), earlier)
    await running.stop()
  })

  test('the doctor reports no problem while signals are recorded and deleted', async () => {
    const { service } = used
    const tenant = await service.tenant('business')
    let over = false
    const busy = Array.from({ length: 4 }, async () => {
      while (!over) {
        const { id } = (await tenant.signal({ value: 'positive' })).json().data
        await service.store.signals.delete(tenant.prompt, id, Date.now(), operator)
      }
    })
    const results: object[] = []
    for (let times = 0; times < 5; times++) results.push(problemsIn(await doctor(used.env)))
    over = true
    await Promise.all(busy)
    assert.deepEqual(results, Array(5).fill({}))
  })

  test('the doctor exits with 1 and prints one line to stderr when it finds an error; --json prints one value', async () => {
    await sql('update prompts set history_count = history_count + 1 where history_count = 3')
    const { code, stdout, stderr } = await runCli(used.env, ['doctor', '--json'])
    await sql('update prompts set history_count = history_count - 1 where history_count = 4')
    assert.equal(code, 1)
    assert.match(stderr, /^promptledger: 1 of \d+ checks failed\n$/)
    const findings: Finding[] = JSON.parse(stdout)
    assert.deepEqual(problemsIn(findings), { history: 'error' })
    for (const finding of findings) assert.deepEqual(Object.keys(finding), ['check', 'status', 'message', 'fix'])
  })

  test('a month counted too low is reported, and the documented fix repairs it', async () => {
    const { service, organisation } = used
    const month = monthStart(service.now - 400 * day)
    await sql(`update signal_usage set used = used - 1 where organisation_id = ${organisation} and month = ${month}`)
    const message = new RegExp(`^organisation ${organisation} in \\d{4}-\\d{2}: \\d+ counted, \\d+ recorded$`)
    await assertFinds(used, { check: 'usage', message, fix: /doctor\.md#usage/ })
    await applyFix(service.url, 'usage', { organisation, month, next_month: nextMonthStart(month) })
    assert.deepEqual(problemsIn(await doctor(used.env)), {})
  })

  test('an organisation that lost more signals than were deleted or erased is reported', async () => {
    const { organisation } = used
    const change = (by: string) =>
      sql(`update signal_usage set used = used ${by} where organisation_id = ${organisation} and month = (
        select min(month) from signal_usage where organisation_id = ${organisation})`)
    await change('+ 2')
    const message = new RegExp(
      `^organisation ${organisation}: 4 more counted than in the hourly sums, 2 deleted, erased or withdrawn$`,
    )
    await assertFinds(used, { check: 'usage', message, fix: /doctor\.md#usage/ })
    // Signals deleted before the audit existed left no trace, so this is only a warning.
    await sql('update schema_migrations set applied_at = applied_at - 100000 where version = 1')
    await assertFinds(used, { check: 'usage', status: 'warning', message, fix: /before the audit log existed/ })
    await sql('update schema_migrations set applied_at = applied_at + 100000 where version = 1')
    await change('- 2')
  })

  test('an hour whose sum does not match its signals is reported, and the documented fix repairs it', async () => {
    const { service, organisation, prompt, hour } = used
    const values = { organisation, prompt, hour }
    const of = `where organisation_id = ${organisation} and prompt_id = ${prompt} and hour = ${hour}`
    await sql(`update signal_hours set positive = positive + 1, negative = negative - 1 ${of}`)
    const message = new RegExp(
      `^organisation ${organisation}, prompt ${prompt}, \\S+:00:00.000Z: 3 positive and \\d negative in the sum, `,
    )
    await assertFinds(used, { check: 'hours', message, fix: /doctor\.md#hours/ })
    await applyFix(service.url, 'hours', values)
    await sql(`delete from signal_hours ${of}`)
    assert.equal(problemsIn(await doctor(used.env)).hours, 'error')
    await applyFix(service.url, 'hours', values)
    assert.deepEqual(problemsIn(await doctor(used.env)), {})
  })

  test('a sum of a version that does not match its signals is reported, and the documented fix repairs it', async () => {
    const { service } = used
    const [row] = await queryRows(
      service.url,
      `select * from version_hours where positive + negative > 0 order by hour desc limit 1`,
    )
    const { organisation_id, prompt_id, hour } = row as Record<string, number>
    await sql(`update version_hours set negative = negative + 1 where hour = ${hour}`)
    const message = /prompt \d+, version abcdef1, \S+Z: 0 positive and 2 negative in the sum, 0 and 1 stored$/
    await assertFinds(used, { check: 'versions', message, fix: /doctor\.md#versions/ })
    const values = { organisation: organisation_id, prompt: prompt_id, version: `'abcdef1'`, hour } as Record<
      string,
      number | string
    >
    await applyFix(service.url, 'versions', values)
    await sql(`delete from version_hours where hour = ${hour}`)
    assert.equal(problemsIn(await doctor(used.env)).versions, 'error')
    await applyFix(service.url, 'versions', values)
    assert.deepEqual(problemsIn(await doctor(used.env)), {})
  })

  test('a vote that does not match its signal is reported, and the documented fix repairs it', async () => {
    const { service } = used
    const [row] = await queryRows(service.url, `select * from signal_subjects where subject = 'kept'`)
    const { organisation_id, prompt_id, signal_id } = row as Record<string, number>
    const values = { organisation: organisation_id, prompt: prompt_id, signal: signal_id } as Record<string, number>
    await sql(`update signal_subjects set value = 'positive' where subject = 'kept'`)
    const message = new RegExp(`, signal ${signal_id}: the vote does not match its signal$`)
    await assertFinds(used, { check: 'subjects', message, fix: /doctor\.md#subjects/ })
    await applyFix(service.url, 'subjects', values)
    await sql(`delete from signal_subjects where subject = 'kept'`)
    await assertFinds(used, { check: 'subjects', message: /the signal has a subject and no vote$/, fix: /#subjects/ })
    await applyFix(service.url, 'subjects', values)
    assert.deepEqual(problemsIn(await doctor(used.env)), {})
  })

  test('an hour before the retention period is reported only if it has more signals than its sum', async () => {
    const { organisation, prompt, service } = used
    const createdAt = service.now - 400 * day
    const of = `where organisation_id = ${organisation} and prompt_id = ${prompt} and created_at = ${createdAt}`
    // Where signals are distributed, the column has no default.
    const [column, id] = engine.name === 'PostgreSQL' ? ['id, ', `nextval('signal_ids'), `] : ['', '']
    const values = `(${column}organisation_id, prompt_id, value, created_at)
      values (${id}${organisation}, ${prompt}, 'positive', ${createdAt})`
    if (engine.name === 'PostgreSQL') {
      const month = monthStart(createdAt)
      const span = `from (${month}) to (${nextMonthStart(month)})`
      await sql(`create table ${partitionName(month)} partition of signals for values ${span}`)
    }
    await sql(`insert into signals ${values}`)
    await assertFinds(used, {
      check: 'hours',
      message: /0 positive and 2 negative in the sum, 1 and 0 stored/,
      fix: /#hours/,
    })
    await sql(`delete from signals ${of}`)
  })

  test('a prompt with wrongly counted or numbered entries is reported, and the documented fix repairs it', async () => {
    const { service, organisation, prompt, publicId } = used
    const of = `where organisation_id = ${organisation} and prompt_id = ${prompt}`
    for (const [change, message] of [
      [
        `update history_entries set position = 3 - position ${of} and position < 3`,
        '3 counted, 3 stored, 2 at the wrong position',
      ],
      [
        `update history_entries set position = 7 ${of} and position = 3`,
        '3 counted, 3 stored, 1 at the wrong position',
      ],
      [
        `update prompts set history_count = 2 where public_id = '${publicId}'`,
        '2 counted, 3 stored, 0 at the wrong position',
      ],
    ] as const) {
      await sql(change)
      await assertFinds(used, { check: 'history', message: new RegExp(`^${publicId}: ${message}$`), fix: /#history/ })
      await applyFix(service.url, 'history', { organisation, prompt })
      assert.deepEqual(problemsIn(await doctor(used.env)), {})
    }
  })

  test('rows that belong to another organisation than their prompt, repository or key are reported', async () => {
    const { organisation, prompt } = used
    const other = organisation + 1
    await sql(`update edits set organisation_id = ${organisation}`)
    // Citus does not let anyone move a signal to another organisation.
    if (!isCitus) await sql(`update signals set organisation_id = ${other} where prompt_id = ${prompt}`)
    const findings = await doctor(used.env)
    await sql(`update edits set organisation_id = ${other}`)
    if (!isCitus) await sql(`update signals set organisation_id = ${organisation} where prompt_id = ${prompt}`)
    assert.deepEqual(problemsIn(findings), { ...(!isCitus && { hours: 'error' }), ownership: 'error' })
    const { message, fix } = findings.find(({ check }) => check === 'ownership') as Finding
    assert.match(message, /2 in edits by prompt_id; 2 in edits by repository_id$/)
    if (!isCitus) assert.match(message, /\d+ in signals by prompt_id; /)
    assert.match(fix ?? '', /doctor\.md#ownership/)
    assert.deepEqual(problemsIn(await doctor(used.env)), {})
  })

  test('a database with newer, older or missing migrations is reported, and its rows are not counted', async () => {
    const also = { 'secret key': 'warning' }
    const rename = (from: number, to: number) =>
      sql(`update schema_migrations set version = ${to} where version = ${from}`)
    const [row] = await queryRows(used.service.url, 'select max(version) as version from schema_migrations')
    const newest = Number(row?.version)
    await sql(`insert into schema_migrations (version, name, applied_at) values (${newest + 1}, 'later', 0)`)
    const message = new RegExp(`at version ${newest + 1}, this Promptledger at ${newest}$`)
    await assertFinds(used, { check: 'migrations', message, fix: /Update Promptledger/, also })
    await sql(`delete from schema_migrations where version = ${newest + 1}`)
    await sql(`delete from schema_migrations where version = ${newest}`)
    await rename(2, newest)
    await assertFinds(used, { check: 'migrations', message: /but it records \d+ migrations/, fix: /backup/, also })
    await rename(newest, 2)
    const older = new RegExp(`at version ${newest - 1}, this Promptledger at ${newest}$`)
    const fix = /promptledger migrate/
    await assertFinds(used, { check: 'migrations', status: 'warning', message: older, fix, also })
    const findings = await doctor(used.env)
    assert.ok(!findings.some(({ check }) => check === 'usage'))
    assert.match(findings.find(({ check }) => check === 'secret key')?.message ?? '', /^not checked/)
    const [still] = await queryRows(used.service.url, 'select max(version) as version from schema_migrations')
    assert.equal(Number(still?.version), newest - 1)
    const { now } = used.service
    await sql(`insert into schema_migrations (version, name, applied_at) values (${newest}, 'again', ${now})`)
  })

  test('the doctor knows every table, view, column and index that the migrations make', async () => {
    const { schema, rows, close } =
      engine.name === 'SQLite'
        ? await openSqlite(used.service.url.slice('sqlite:'.length), Date.now)
        : await openPostgres(used.service.url, 2, Date.now)
    const actual = (await rows(schema.query)) as unknown as SchemaPart[]
    await close()
    const expected = schema.expected()
    assert.deepEqual(missingParts(expected, actual), [])
    // The service creates months, and an index of signals in place of their key.
    const isMadeLater = ({ name, table }: SchemaPart) =>
      /^signals_\d{4}_\d{2}$/.test(table) || /^signals_(by_time|pkey)$/.test(name)
    const unknown = missingParts(actual, expected)
    assert.deepEqual(
      unknown.filter((part) => !isMadeLater(part)),
      [],
    )
  })

  test('a table, column or index that was dropped, or not restored, is reported', async () => {
    const { url } = await engine.create()
    const findingOf = async () =>
      (await doctor({ ...used.env, DATABASE_URL: url })).find(({ check }) => check === 'migrations')
    assert.equal((await findingOf())?.status, 'ok')
    const dropped = {
      'drop index history_entries_by_position': 'lacks the index history_entries_by_position',
      'alter table shares drop column hint': 'lacks the column shares.hint; index history_entries_by_position',
      'drop table trial_labels': 'lacks the table trial_labels; column shares.hint; index history_entries_by_position',
    }
    for (const [statement, message] of Object.entries(dropped)) {
      await query(url, statement)
      const { status, message: found = '', fix } = (await findingOf()) ?? {}
      assert.equal(status, 'error')
      assert.deepEqual(found.replace(/.*(?=lacks)/, ''), message)
      assert.match(fix ?? '', /Restore a backup/)
    }
  })

  test('an empty database is reported', async () => {
    const database =
      engine.name === 'SQLite' ? await engine.createEmpty() : { url: serverUrl(), remove: async () => {} }
    // On SQLite, a database file without tables.
    if (engine.name === 'SQLite') await query(database.url, 'pragma user_version = 1')
    const finding = (await doctor({ ...used.env, DATABASE_URL: database.url })).find(
      ({ check }) => check === 'migrations',
    )
    assert.equal(finding?.status, 'error')
    assert.match(`${finding?.message} ${finding?.fix}`, /empty .*promptledger migrate/)
  })

  test('records in the future are reported as a clock problem', async () => {
    const behind = () => Date.now() - 50 * day
    const findings = await doctor(used.env, behind)
    const finding = findings.find(({ check }) => check === 'clock')
    assert.equal(finding?.status, 'error')
    assert.match(finding?.fix ?? '', /NTP/)
    if (engine.name === 'SQLite') assert.match(finding?.message ?? '', /^the newest record is from /)
  })

  test('a secret key that is missing or cannot decrypt the stored secrets is reported', async () => {
    const env = { ...used.env, PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex') }
    const fix = /Restore the key/
    await assertFinds({ env }, { check: 'secret key', message: /cannot decrypt 1 of 1 stored secret/, fix })
    await assertFinds(
      { env: { ...env, PROMPTLEDGER_SECRET_KEY: '' } },
      { check: 'secret key', message: /(secret\.key does not exist|is not set), but 1 stored secret/, fix },
    )
  })

  test('settings that the allocator lacks are reported, but not where only the environment of the service can have them', async () => {
    const environment = { ...used.env, MALLOC_ARENA_MAX: '8' }
    await assertFinds(
      { env: environment },
      {
        check: 'allocator',
        status: 'warning',
        message: /lacks MALLOC_ARENA_MAX=1$/,
        fix: /where the service is started/,
      },
    )
    assert.equal(checkAllocator({}, false).status, 'ok')
    const beside = checkAllocator({}, true)
    assert.equal(beside.status, 'ok')
    assert.match(beside.message, /^not checked: the environment of the service should have MALLOC_ARENA_MAX=1 /)
  })

  test('wrong settings are reported, and the other checks still run', async () => {
    const env = { ...used.env, PORT: 'many', LOG_LEVEL: 'loud' }
    await assertFinds(
      { env },
      { check: 'settings', message: /PORT must be .*; LOG_LEVEL must be/, fix: /\.env\.example/ },
    )
    const open = { ...used.env, HOST: '0.0.0.0' }
    await assertFinds(
      { env: open },
      { check: 'settings', status: 'warning', message: /PUBLIC_URL/, fix: /Set PUBLIC_URL/ },
    )
    await assertFinds(
      { env: { ...open, TRUSTED_PROXY: '10.0.0.1' } },
      {
        check: 'settings',
        status: 'warning',
        message: /PUBLIC_URL.*did you mean TRUSTED_PROXIES\?/,
        fix: /Rename or remove/,
      },
    )
  })

  test('a missing or outdated git is reported', async () => {
    const path = process.env.PATH
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-path-'))
    process.env.PATH = folder
    try {
      await assertFinds(used, { check: 'git', message: /git is not installed/, fix: /Install git 2\.37 or newer/ })
      writeFileSync(join(folder, 'git'), '#!/bin/sh\necho git version 2.36.9\n', { mode: 0o755 })
      await assertFinds(used, { check: 'git', message: /2\.36\.9 is too old/, fix: /Install git 2\.37 or newer/ })
    } finally {
      process.env.PATH = path
    }
    await rm(folder, { recursive: true })
  })

  test('a failing repository is an error; one that is not synced, or whose webhook is rejected, a warning', async () => {
    const sql = (text: string) => query(used.service.url, text)
    await sql("update repositories set last_error = 'the server is unreachable.'")
    await assertFinds(used, {
      check: 'repositories',
      message: /^repository \d+, \S+: the server is unreachable$/,
      fix: /repo sync/,
    })
    await sql(`update repositories set last_error = null, last_sync_at = ${Date.now() - 3 * 3_600_000}`)
    await assertFinds(used, {
      check: 'repositories',
      status: 'warning',
      message: /last synced at 20/,
      fix: /promptledger serve/,
    })
    await sql(`update repositories set last_sync_at = ${Date.now()}, rejected_deliveries = 2,
      last_rejected_at = ${Date.now()}, last_rejection = 'the signature is wrong'`)
    await assertFinds(used, {
      check: 'repositories',
      status: 'warning',
      message: /2 deliveries rejected, the last one at 20\S+: the signature is wrong$/,
      fix: /rotate-secret/,
    })
    await sql('update repositories set rejected_deliveries = 0, last_rejected_at = null, last_rejection = null')
  })

  test('a repository whose folder does not exist is an error', async () => {
    await sql("update repositories set url = url || '-moved'")
    await assertFinds(used, {
      check: 'repositories',
      message: /^repository \d+: the folder \/\S+-moved does not exist$/,
      fix: /repo disconnect/,
    })
    await sql("update repositories set url = replace(url, '-moved', '')")
  })

  test('a data directory that does not exist is a warning', async () => {
    const { PROMPTLEDGER_SECRET_KEY, DATABASE_URL, DATA_DIR } = used.env
    const env = { PROMPTLEDGER_SECRET_KEY, DATABASE_URL, DATA_DIR: join(DATA_DIR ?? '/', 'none') }
    await assertFinds(
      { env },
      { check: 'data directory', status: 'warning', message: /\/none does not exist$/, fix: /DATA_DIR/ },
    )
  })

  test('email alerts without a mail server are reported', async () => {
    const alert = await addAlert(used.service, (await used.service.tenant()).organisation.id, { channel: 'email' })
    await assertFinds(used, {
      check: 'alerts',
      status: 'warning',
      message: /^1 alert goes to email addresses, but SMTP_URL is not set$/,
      fix: /Set SMTP_URL and ALERT_FROM/,
    })
    const mail = { SMTP_URL: 'smtp://127.0.0.1:1', ALERT_FROM: 'alerts@example.com' }
    assert.deepEqual(problemsIn(await doctor({ ...used.env, ...mail })), {})
    await used.service.store.alerts.remove(alert, Date.now(), operator)
  })

  test('a webhook that no longer gets signals is reported', async () => {
    const { organisation } = await used.service.tenant()
    const alert = await addAlert(used.service, organisation.id, { channel: 'cloudevents', signals: true })
    assert.deepEqual(problemsIn(await doctor(used.env)), {})
    await used.service.store.alerts.disable(alert, 'It took no signals for three days.', Date.now())
    await assertFinds(used, {
      check: 'alerts',
      status: 'warning',
      message: /^1 webhook for signals is disabled$/,
      fix: /alert list --org <id> --json/,
    })
    await used.service.store.alerts.remove(alert, Date.now(), operator)
  })

  test('a data directory without free space is reported', {
    skip: process.platform === 'linux' ? false : 'needs /proc',
  }, async () => {
    const { PROMPTLEDGER_SECRET_KEY, DATABASE_URL } = used.env
    const env = { PROMPTLEDGER_SECRET_KEY, DATABASE_URL, DATA_DIR: '/proc' }
    await assertFinds(
      { env },
      {
        check: 'data directory',
        message: /(^0 MB free in \/proc|is not writable)/,
        fix: /Free disk space|Make it writable/,
      },
    )
  })
})
