import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { promptledger } from '../../../testing/command.ts'
import { type Engine, engines, onEachEngine, type TestDatabase } from '../../../testing/engines.ts'
import { everything, fillWell, idempotencyKey, type WellFilled } from '../../../testing/filled-database.ts'
import { inPortions } from '../../../testing/recording.ts'
import { openTestStore, queryRows, type Tenant, TestService } from '../../../testing/service.ts'
import { type Archive, checkArchiveFile, readArchiveRows } from '../../src/archive/file.ts'
import { newOrganisation } from '../../src/domain/access/organisation.ts'
import { numberedTables } from '../../src/domain/archive/archive.ts'
import { archiveTables } from '../../src/store/sql/archive-tables.ts'

interface TableSum {
  table: string
  rows: number
  checksum: string
}

interface Printed {
  file: string
  bytes: number
  seconds: number
  tables: TableSum[]
  organisation_id?: number
  moved?: Record<string, number>
}

interface Source {
  engine: Engine
  service: TestService
  filled: WellFilled
  /** All of it, and what was printed when it was made. */
  file: string
  made: Printed
  /** One organisation. */
  exported: string
}

let folder = ''
const sources = new Map<string, Source>()
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promptledger-archive-'))
  for (const engine of engines) sources.set(engine.name, await newSource(engine))
})
after(async () => {
  for (const { service } of sources.values()) await service.close()
  await rm(folder, { recursive: true, force: true })
})

async function newSource(engine: Engine): Promise<Source> {
  const service = new TestService()
  await service.open(engine)
  const filled = await fillWell(service)
  const [file, exported] = [newFile(), newFile()]
  const env = settings(service.url, service.secretKey)
  const org = String(filled.tenant.organisation.id)
  const [made] = await Promise.all([json(env, ['backup', file]), json(env, ['export', '--org', org, exported])])
  return { engine, service, filled, file, made, exported }
}

const sourceOn = ({ name }: Engine) => sources.get(name) as Source

const newFile = () => join(folder, `${randomBytes(6).toString('hex')}.gz`)

async function newDatabase(engine: Engine): Promise<TestDatabase> {
  const database = await engine.create()
  after(() => database.remove())
  return database
}

/** The service on a database that is there already, at the same time and with the same secret key as another. */
async function serviceOn(engine: Engine, database: TestDatabase, like: TestService): Promise<TestService> {
  const service = new TestService()
  service.now = like.now
  service.secretKey = like.secretKey
  await service.open({ ...engine, create: async () => ({ ...database, remove: async () => {} }) })
  after(() => service.close())
  return service
}

function settings(url: string, secretKey: Buffer | null): NodeJS.ProcessEnv {
  return { DATABASE_URL: url, ...(secretKey && { PROMPTLEDGER_SECRET_KEY: secretKey.toString('hex') }) }
}

async function json(env: NodeJS.ProcessEnv, args: string[]): Promise<Printed> {
  const { code, stdout, stderr } = await promptledger(env, [...args, '--json'])
  assert.equal(code, 0, stderr)
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

async function refused(env: NodeJS.ProcessEnv, args: string[], message: RegExp): Promise<void> {
  const { code, stdout, stderr } = await promptledger(env, args)
  assert.equal(code, 1, stdout)
  assert.equal(stdout, '')
  assert.match(stderr, message)
  assert.match(stderr, /^promptledger: [^\n]+\n$/)
}

const leftOut = ['sessions', 'readiness', 'signal_retention', 'change_counter', 'schema_migrations', 'sqlite_sequence']

onEachEngine('The list of what is archived', (engine) => {
  test('has every table and every column that the database has, and what they refer to', async () => {
    const database = await newDatabase(engine)
    await (await openTestStore(database.url)).close()
    const sql =
      engine.name === 'SQLite'
        ? `select m.name as table_name, c.name as column_name, lower(c.type) as type
           from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table'`
        : `select table_name, column_name, data_type as type from information_schema.columns
           where table_schema = 'public' and table_name !~ '^signals_'`
    const found = (await queryRows(database.url, sql))
      .filter(({ table_name }) => !leftOut.includes(table_name as string))
      .map(({ table_name, column_name, type }) => `${table_name}.${column_name} ${type === 'text' ? 'text' : 'number'}`)
    const listed = archiveTables.flatMap(({ name, columns }) =>
      Object.entries(columns).map(([column, kind]) => `${name}.${column} ${kind === 'text' ? 'text' : 'number'}`),
    )
    assert.deepEqual(listed.sort(), found.sort())
    for (const { name, columns } of archiveTables) {
      for (const [column, kind] of Object.entries(columns)) {
        const refers = column === 'id' || (column.endsWith('_id') && kind !== 'text')
        assert.equal(refers, (numberedTables as readonly string[]).includes(kind), `${name}.${column}`)
      }
    }
  })
})

for (const source of engines) {
  describe(`An archive of ${source.name}`, () => {
    test('says what is in it, is for its owner only, and leaves nothing else behind', async () => {
      const { service, file, made } = sourceOn(source)
      assert.deepEqual(Object.keys(made), ['file', 'bytes', 'seconds', 'tables'])
      assert.deepEqual(
        made.tables.map(({ table }) => table),
        archiveTables.map(({ name }) => name),
      )
      const stored = await everything(service.url)
      for (const { table, rows } of made.tables) assert.equal(rows, stored[table]?.length, table)
      const { mode, size } = await stat(file)
      assert.equal(mode & 0o777, 0o600)
      assert.equal(size, made.bytes)
      assert.deepEqual(
        (await readdir(folder)).filter((name) => name.includes('unfinished')),
        [],
      )
    })

    for (const target of engines) {
      test(`brings every column of every table to ${target.name}, and the service goes on as if nothing had happened`, async () => {
        const { service, filled, file, made } = sourceOn(source)
        const database = await newDatabase(target)
        const restored = await json(settings(database.url, service.secretKey), ['restore', file])
        assert.deepEqual(restored.tables, made.tables)
        assert.deepEqual(await everything(database.url), await everything(service.url))

        const moved = await serviceOn(target, database, service)
        const { tenant, scenario } = filled
        const ask = (of: TestService, url: string) => of.app.inject({ url: `/api/v1${url}`, headers: tenant.headers })
        const promptIds = (await ask(service, '/prompts?limit=100')).json().data.map(({ id }: { id: string }) => id)
        assert.equal(promptIds.length, 3)
        const pages = promptIds.flatMap((id: string) =>
          [
            'history',
            'history?limit=1&page=2',
            'signals',
            'signals?page=40',
            'signals/summary',
            'impact',
            'timeline',
          ].map((path) => `/prompts/${id}/${path}`),
        )
        for (const page of [...pages, '/prompts', '/keys', '/usage', '/audit?limit=100', '/repositories']) {
          const [here, there] = await Promise.all([ask(service, page), ask(moved, page)])
          assert.equal(here.statusCode, 200, page)
          assert.equal(there.body, here.body, page)
        }

        const send = (of: TestService, payload: object, headers = {}) =>
          of.app.inject({
            method: 'POST',
            url: `${tenant.path}/signals`,
            headers: { ...tenant.headers, ...headers },
            payload,
          })
        const repeats = [service, moved].map((of) =>
          send(of, { value: 'positive' }, { 'idempotency-key': idempotencyKey }),
        )
        const [first, repeated] = await Promise.all(repeats)
        assert.equal(repeated?.statusCode, 201)
        assert.equal(repeated?.body, first?.body)

        const lastId = Number(
          (await queryRows(database.url, 'select max(signal_id) as id from idempotency_keys'))[0]?.id,
        )
        const answers = []
        for (let i = 0; i < 4; i++) answers.push(await send(moved, { value: 'negative' }))
        assert.deepEqual(
          answers.map(({ statusCode }) => statusCode),
          [201, 201, 201, 429],
        )
        assert.equal(answers[3]?.json().error.used, 1_000)
        assert.ok(answers[0]?.json().data.id > lastId, 'the id of a signal that was taken back is given again')

        const delivered = await moved.app.inject({
          method: 'POST',
          url: `/webhooks/${scenario.repository.hookId}`,
          ...webhook(scenario.forge.ping()),
        })
        assert.equal(delivered.statusCode, 202, 'the secret of the webhook opens')
        const created = await moved.app.inject({
          method: 'POST',
          url: '/api/v1/prompts',
          headers: tenant.headers,
          payload: { name: 'new.md' },
        })
        assert.equal(created.statusCode, 201)
      })

      if (target.name === source.name) continue
      test(`brings one organisation to an empty ${target.name} with its ids`, async () => {
        const { service, filled, exported } = sourceOn(source)
        const database = await newDatabase(target)
        const { organisation_id, moved } = await json(settings(database.url, service.secretKey), [
          'import',
          'organisation',
          exported,
        ])
        const { id } = filled.tenant.organisation
        assert.deepEqual({ organisation_id, moved }, { organisation_id: id, moved: {} })
        assert.deepEqual(await everything(database.url), onlyOf(await everything(service.url), id))
      })
    }
  })
}

function webhook({ headers, body }: { headers: Record<string, string>; body: Buffer }) {
  return { headers: { 'content-type': 'application/json', ...headers }, payload: body }
}

type Everything = Awaited<ReturnType<typeof everything>>

/** The rows of one organisation. */
function onlyOf(all: Everything, organisationId: number): Everything {
  const places = new Map(
    archiveTables.map(({ name, columns }) => [
      name,
      Object.keys(columns).indexOf(name === 'organisations' ? 'id' : 'organisation_id'),
    ]),
  )
  const entries = Object.entries(all).map(([name, rows]) => {
    const place = places.get(name)
    return [name, place === undefined ? rows : rows.filter((row) => row[place] === String(organisationId))]
  })
  return Object.fromEntries(entries)
}

onEachEngine('An imported organisation', (engine) => {
  const other = engines.find(({ name }) => name !== engine.name) as Engine

  test('comes beside others while those record, its ids moved behind theirs, and works on', async () => {
    const service = new TestService()
    await service.open(other)
    after(() => service.close())
    const filled = await fillWell(service)
    const file = newFile()
    const exported = ['export', '--org', String(filled.tenant.organisation.id), file]
    await json(settings(service.url, service.secretKey), exported)
    const host = new TestService()
    await host.open(engine)
    after(() => host.close())
    host.now = service.now
    host.secretKey = randomBytes(32)
    const resident = await fillWell(host)
    const before = onlyOf(await everything(host.url), resident.other.organisation.id)
    const { tenant, scenario } = filled

    let recording = true
    const recorded: number[] = []
    const recorder = (async () => {
      while (recording) recorded.push((await resident.other.signal({ value: 'positive' })).json().data?.id)
    })()
    const env = { ...settings(host.url, service.secretKey) }
    const printed = await json(env, ['import', 'organisation', file]).finally(() => {
      recording = false
    })
    await recorder
    assert.ok(recorded.length > 0 && recorded.every((id) => id > 0))

    const id = printed.organisation_id as number
    const moved = printed.moved as Record<string, number>
    assert.deepEqual(Object.keys(moved).sort(), [...numberedTables].sort())
    assert.equal(id, tenant.organisation.id + (moved.organisations as number))
    const [there] = [onlyOf(await everything(service.url), tenant.organisation.id)]
    const here = onlyOf(await everything(host.url), id)
    for (const { name } of archiveTables) assert.equal(here[name]?.length, there[name]?.length, name)
    const { signals: _, signal_hours: __, signal_usage: ___, ...unchanged } = before
    assert.partialDeepStrictEqual(onlyOf(await everything(host.url), resident.other.organisation.id), unchanged)

    const guest = await serviceOn(engine, { url: host.url, remove: async () => {} }, service)
    guest.follow.dataDir = service.follow.dataDir
    const ask = async (of: TestService, url: string) => {
      const response = await of.app.inject({ url: `/api/v1${url}`, headers: tenant.headers })
      assert.equal(response.statusCode, 200, response.body)
      return response.json()
    }
    // The same answers, but for ids.
    const promptId = await scenario.promptId('prompts/p.md')
    const history = (await ask(service, `/prompts/${promptId}/history`)).data as { id: number }[]
    assert.deepEqual(
      (await ask(guest, `/prompts/${promptId}/history`)).data,
      history.map((entry) => ({ ...entry, id: entry.id + (moved.history_entries as number) })),
    )
    const subjects = (await ask(guest, '/audit?limit=100')).data as AuditBody[]
    assert.deepEqual(
      subjects,
      ((await ask(service, '/audit?limit=100')).data as AuditBody[]).map((entry) => expectedAudit(entry, moved)),
    )
    const send = () =>
      guest.app.inject({
        method: 'POST',
        url: `${tenant.path}/signals`,
        headers: { ...tenant.headers, 'idempotency-key': idempotencyKey },
        payload: { value: 'positive' },
      })
    const stored = (await everything(host.url)).signals?.length
    assert.equal((await send()).statusCode, 201)
    assert.equal((await everything(host.url)).signals?.length, stored, 'a repeated request was recorded once more')

    // What is known of the pull request leads to the same prompt when it is merged.
    const { git, forge } = scenario
    const [repository] = await guest.store.repositories.list(id)
    assert.ok(repository)
    const merge = git.merge('pull-7', 'Merge it')
    git.push()
    const pull = { number: 7, head: git.head('pull-7'), mergeCommit: merge, at: '2026-11-02T11:00:00Z' }
    const delivery = forge.pull({ action: 'merged', ...pull })
    const answer = await guest.app.inject({
      method: 'POST',
      url: `/webhooks/${repository.hookId}`,
      ...webhook(delivery),
    })
    assert.equal(answer.statusCode, 202)
    const { syncOnce: workOn } = await import('../../src/follow/worker.ts')
    await workOn(guest.follow, repository.id)
    const newest = (await ask(guest, `/prompts/${promptId}/history`)).data[0]
    assert.partialDeepStrictEqual(newest, { action: 'pr_merged', pr_number: 7, commit_sha: merge })
    assert.equal((await ask(guest, `/prompts/${promptId}/history?limit=100`)).data.length, history.length + 1)

    await refused(
      env,
      ['import', 'organisation', file],
      /^promptledger: The key .+ is already here, in organisation \d+/,
    )
    await queryRows(host.url, `update api_keys set hash = 'x' || id where organisation_id = ${id}`)
    await refused(env, ['import', 'organisation', file], /: The webhook of repository \S+ is already here/)
    await queryRows(host.url, `update repositories set hook_id = 'x' || id where organisation_id = ${id}`)
    await refused(env, ['import', 'organisation', file], /: The prompt pmt_\w+ is already here/)
    assert.equal((await everything(host.url)).organisations?.length, (here.organisations?.length as number) + 3)
  })

  test('is sealed with the secret key of its new place where the old one is told, and else refused', async () => {
    const { service, filled, exported: file } = sourceOn(other)
    const database = await newDatabase(engine)
    const newKey = randomBytes(32)
    const env = settings(database.url, newKey)
    const another = /The secrets of a repository were stored with another secret key: .+ Nothing was changed/
    await refused(env, ['import', 'organisation', file], another)
    const none = /stored with another secret key; here is none/
    await refused(settings(database.url, null), ['import', 'organisation', file], none)
    const args = ['import', 'organisation', file, '--secret-key-env', 'OLD']
    await json({ ...env, OLD: service.secretKey.toString('hex') }, args)
    const like = Object.assign(new TestService(), { now: service.now, secretKey: newKey })
    const guest = await serviceOn(engine, database, like)
    const { repository, forge } = filled.scenario
    const url = `/webhooks/${repository.hookId}`
    assert.equal((await guest.app.inject({ method: 'POST', url, ...webhook(forge.ping()) })).statusCode, 202)

    const left = await newDatabase(engine)
    await json(settings(left.url, newKey), ['import', 'organisation', file, '--leave-secrets'])
    assert.deepEqual(
      (await everything(left.url)).repositories,
      onlyOf(await everything(service.url), filled.tenant.organisation.id).repositories,
    )
  })

  test('is refused where its oldest signals are not kept: nobody would see them, and they would soon be gone', async () => {
    const { service, exported } = sourceOn(other)
    const database = await newDatabase(engine)
    const store = await openTestStore(database.url)
    await store.organisations.create(newOrganisation('Resident', 'free', 1))
    await store.signals.removeSome(Date.parse('2100-01-01T00:00:00Z'))
    await store.close()
    const before = await everything(database.url)
    const message =
      /Signals from before 2100-01-01T00:00:00.000Z are not kept here, and this organisation has \d+ of them/
    await refused(settings(database.url, service.secretKey), ['import', 'organisation', exported], message)
    assert.deepEqual(await everything(database.url), before)
  })

  test('is refused where signals are kept for longer than they were, since its pages could not be counted', async () => {
    const { service, exported } = sourceOn(other)
    const database = await newDatabase(engine)
    const store = await openTestStore(database.url)
    await store.organisations.create(newOrganisation('Resident', 'free', 1))
    await store.close()
    const before = await everything(database.url)
    const message = /signals from before 2026-02-01T00:00:00.000Z were removed, and here they are kept for longer/
    await refused(settings(database.url, service.secretKey), ['import', 'organisation', exported], message)
    assert.deepEqual(await everything(database.url), before)
  })
})

interface AuditBody {
  id: number
  action: string
  actor: { key_id: number } | null
  subject: { id: string }
  details: { new_key_id?: number } | null
}

function expectedAudit(entry: AuditBody, moved: Record<string, number>): AuditBody {
  const subjects: Record<string, string> = {
    key: 'api_keys',
    repository: 'repositories',
    signal: 'signals',
    signals: 'organisations',
    organisation: 'organisations',
  }
  const by = moved[subjects[entry.action.split('.')[0] as string] ?? '']
  const { new_key_id: newKey } = entry.details ?? {}
  return {
    ...entry,
    id: entry.id + (moved.audit as number),
    actor: entry.actor && { ...entry.actor, key_id: entry.actor.key_id + (moved.api_keys as number) },
    subject: { ...entry.subject, id: by === undefined ? entry.subject.id : String(Number(entry.subject.id) + by) },
    details:
      newKey === undefined ? entry.details : { ...entry.details, new_key_id: newKey + (moved.api_keys as number) },
  }
}

// Far below what the rows take together.
const littleMemory = { NODE_OPTIONS: '--max-old-space-size=32' }

/** 36 MB in 12,000 rows. */
async function fillLarge({ service, organisation, prompt }: Tenant): Promise<void> {
  const metadata = JSON.stringify({ filler: 'x'.repeat(3_000) })
  const owner = { organisationId: organisation.id, promptId: prompt.id }
  const signal = { ...owner, value: 'positive', metadata, createdAt: service.now } as const
  await service.store.signals.import(inPortions(...Array(12).fill(Array(1_000).fill(signal))))
}

// A database that changes what it is given.
const sqliteMischief = [
  `create trigger mischief after insert on audit begin update audit set subject_name = 'x' where id = new.id; end`,
]
const postgresMischief = [
  `create function mischief() returns trigger language plpgsql as $$ begin new.subject_name = 'x'; return new; end $$`,
  'create trigger mischief before insert on audit for each row execute function mischief()',
]

onEachEngine('A backup', (engine) => {
  test('while signals are recorded is of one moment, and has all that was answered before it began', async () => {
    const service = new TestService()
    await service.open(engine)
    after(() => service.close())
    const tenant = await service.tenant('business')
    await tenant.fill(2_000)
    // Between any two tables something is recorded.
    const counts = await service.store.archive.read(null, async (snapshot) => {
      const counts: Record<string, number> = {}
      for (const table of archiveTables) {
        for await (const rows of snapshot.rows(table)) counts[table.name] = (counts[table.name] ?? 0) + rows.length
        assert.equal((await tenant.signal({ value: 'positive' }, { 'idempotency-key': table.name })).statusCode, 201)
      }
      return counts
    })
    assert.partialDeepStrictEqual(counts, { signals: 2_000, signal_usage: 1 })
    assert.equal(counts.idempotency_keys, undefined)

    let recording = true
    const answered: number[] = []
    const recorders = Array.from({ length: 3 }, async () => {
      while (recording) answered.push((await tenant.signal({ value: 'positive' })).json().data.id)
    })
    while (answered.length < 10) await pause(1)
    const before = answered.slice()
    const file = newFile()
    await json(settings(service.url, null), ['backup', file]).finally(() => {
      recording = false
    })
    await Promise.all(recorders)
    assert.ok(answered.length > before.length + 10, 'nothing was recorded meanwhile')
    const copy = await newDatabase(engine)
    await json(settings(copy.url, null), ['restore', file])
    const stored = await queryRows(copy.url, 'select id from signals')
    const [usage] = await queryRows(copy.url, 'select sum(used) as used from signal_usage')
    const [hours] = await queryRows(copy.url, 'select sum(positive + negative) as count from signal_hours')
    assert.equal(Number(usage?.used), stored.length)
    assert.equal(Number(hours?.count), stored.length)
    const ids = new Set(stored.map(({ id }) => Number(id)))
    assert.ok(before.every((id) => ids.has(id)))
  })

  test('takes no more memory for more rows, nor does restoring it', async () => {
    const service = new TestService()
    await service.open(engine)
    after(() => service.close())
    await fillLarge(await service.tenant())
    const [file, copy] = [newFile(), await newDatabase(engine)]
    const { tables } = await json({ ...settings(service.url, null), ...littleMemory }, ['backup', file])
    const restored = await json({ ...settings(copy.url, null), ...littleMemory }, ['restore', file])
    assert.deepEqual(restored.tables, tables)
  })

  test('counts as restored only if the database then holds what was in it, else nothing is', async () => {
    const { service, file } = sourceOn(engine)
    const database = await newDatabase(engine)
    await (await openTestStore(database.url)).close()
    const empty = await everything(database.url)
    for (const sql of engine.name === 'SQLite' ? sqliteMischief : postgresMischief) await queryRows(database.url, sql)
    const message =
      /The database holds something else in audit than it was given \(\d+ rows of \d+\): nothing was stored/
    await refused(settings(database.url, service.secretKey), ['restore', file], message)
    assert.deepEqual(await everything(database.url), empty)
  })

  test('never overwrites a file unless told to', async () => {
    const database = await newDatabase(engine)
    const file = newFile()
    await writeFile(file, 'mine')
    const env = settings(database.url, null)
    await refused(env, ['backup', file], /is there already: name another file, or add --force/)
    assert.equal(await readFile(file, 'utf8'), 'mine')
    const { bytes } = await json(env, ['backup', file, '--force'])
    assert.equal((await stat(file)).size, bytes)
    await refused(env, ['export', '--org', '99', newFile()], /There is no organisation 99/)
  })

  test('that is damaged, of another kind or for another command is refused, and the database is as it was', async () => {
    const { service, file, exported } = sourceOn(engine)
    const bytes = await readFile(file)
    const text = gunzipSync(bytes).toString()

    const damaged = newFile()
    const target = await newDatabase(engine)
    const env = settings(target.url, service.secretKey)
    await (await openTestStore(target.url)).close()
    const empty = await everything(target.url)
    const flipped = Buffer.from(bytes)
    flipped[Math.floor(bytes.length / 2)] = (flipped[Math.floor(bytes.length / 2)] as number) ^ 1
    const cases: [Buffer | string, RegExp][] = [
      [flipped, /is damaged \(.+\): nothing was changed/],
      [bytes.subarray(0, bytes.length - 9), /is damaged \(unexpected end of file\)/],
      [bytes.subarray(0, bytes.length / 2), /is damaged \(unexpected end of file\)/],
      [gzipSync(text.slice(0, text.lastIndexOf('{"end"'))), /is damaged \(its end is missing\)/],
      [gzipSync(text.slice(0, -1)), /is damaged \(its last line is cut off\)/],
      [gzipSync(text.replace('"Acme"', '"Acne"')), /is damaged \(its checksum does not fit\)/],
      [gzipSync(`${text}[]\n`), /is damaged \(it goes on behind its end\)/],
      [
        gzipSync(text.replace('"hint"', '"hind"')),
        /is damaged \(where the table api_keys should begin is something else\)/,
      ],
      [gzipSync(text.replace('"version":1', '"version":2')), /was made by a newer Promptledger/],
      [gzipSync(text.replace('"schema":', '"schema":9')), /was made by a newer Promptledger, .+: update this one/],
      [
        gzipSync(text.replace(/"schema":\d+/, '"schema":1')),
        /database is at version 1; .+: restore it with that Promptledger/,
      ],
      [gzipSync('{"format":"other"}\n'), /is no archive of Promptledger: nothing was changed/],
      ['', /is damaged \(unexpected end of file\)|is no archive of Promptledger/],
      ['{"value":"positive"}\n', /is no archive of Promptledger/],
    ]
    const schema = Number(/"schema":(\d+)/.exec(text)?.[1])
    for (const [contents, message] of cases) {
      const broken = newFile()
      await writeFile(broken, contents)
      await assert.rejects(
        checkArchiveFile(broken, schema, () => {}),
        message,
      )
    }
    await writeFile(damaged, flipped)
    await refused(env, ['restore', damaged], /is damaged/)
    await refused(env, ['restore', exported], /holds one organisation: use promptledger import organisation/)
    await refused(env, ['import', 'organisation', file], /holds a whole database: use promptledger restore/)
    assert.deepEqual(await everything(target.url), empty)

    const stored = await everything(service.url)
    await refused(
      settings(service.url, service.secretKey),
      ['restore', file],
      /has organisations already, and only an empty one can be restored into/,
    )
    assert.deepEqual(await everything(service.url), stored)
  })

  test('that was made up reaches no row of others, and one that changes while it is read is not stored', async () => {
    const { exported } = sourceOn(engine)
    const text = gunzipSync(await readFile(exported)).toString()
    const schema = Number(/"schema":(\d+)/.exec(text)?.[1])
    const read = async (archive: Archive, from: string) => {
      for await (const _ of readArchiveRows(from, archive));
    }
    const genuine = await checkArchiveFile(exported, schema, () => {})
    await read(genuine, exported)
    await assert.rejects(read({ ...genuine, sha256: 'another' }, exported), /is damaged \(it has changed meanwhile\)/)
    const [, name, , id] = /\n(\{"table":"audit".*\n\[)(\d+),(\d+),/.exec(text) as RegExpExecArray
    for (const [own, owner] of [
      [-1, id],
      [1e9, id],
      [1, Number(id) + 1],
    ]) {
      const lines = text.replace(/\n\{"table":"audit".*\n\[\d+,\d+,/, `\n${name}${own},${owner},`)
      const before = lines.slice(0, lines.lastIndexOf('{"end"'))
      const sum = createHash('sha256').update(before).digest('hex')
      const made = newFile()
      await writeFile(made, gzipSync(lines.replace(/"sha256":"\w+"/, `"sha256":"${sum}"`)))
      const archive = await checkArchiveFile(made, schema, () => {})
      await assert.rejects(read(archive, made), /a row of audit has an id that it cannot have/)
    }
  })
})
