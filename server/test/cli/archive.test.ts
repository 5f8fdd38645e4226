import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import { engines, onEachEngine } from '../../../testing/engines.ts'
import { archivedRows, fillDatabase, idempotencyKey } from '../../../testing/filled-database.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, TestService } from '../../../testing/service.ts'
import { newOrganisation } from '../../src/domain/access/organisation.ts'
import { numberedTables } from '../../src/domain/archive/archive.ts'
import { syncOnce } from '../../src/follow/worker.ts'
import { archiveTables, tablesLeftOut } from '../../src/store/sql/archive-tables.ts'
import {
  assertRejected,
  folder,
  json,
  newDatabase,
  newFile,
  serviceOn,
  settings,
  sourceOn,
  webhook,
} from './archive-source.ts'
import { asImported, type Everything, onlyOf, withoutImportEntry } from './archived-rows.ts'

// Slow: moves databases between the engines in every direction, and starts a process for each command.
onEachEngine('The tables of the database', (engine) => {
  test('each is either in archives, with every column and the table that it refers to, or left out for a reason', async () => {
    const database = await newDatabase(engine)
    await (await openTestStore(database.url)).close()
    const sql =
      engine.name === 'SQLite'
        ? `select m.name as table_name, c.name as column_name, lower(c.type) as type
           from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table' and m.name not like 'sqlite_%'`
        : `select table_name, column_name, data_type as type
           from information_schema.columns join information_schema.tables using (table_schema, table_name)
           where table_schema = 'public' and table_type = 'BASE TABLE' and table_name !~ '^(signals|citus)_'`
    const all = await queryRows(database.url, sql)
    const tables = new Set(all.map(({ table_name }) => table_name as string))
    const archived = new Set(archiveTables.map(({ name }) => name))
    for (const name of tables) {
      assert.notEqual(archived.has(name), name in tablesLeftOut, `${name}: add it to archiveTables or to tablesLeftOut`)
    }
    // PostgreSQL has all tables.
    const gone = Object.keys(tablesLeftOut).filter((name) => !tables.has(name))
    if (engine.name === 'PostgreSQL') assert.deepEqual(gone, [])
    const found = all
      .filter(({ table_name }) => archived.has(table_name as string))
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

test('the documentation lists every table that archives leave out, and why', async () => {
  const page = await readFile(new URL('../../../docs/operations/backup.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, name, reason]) => [name, reason])
  assert.deepEqual(Object.fromEntries(rows), tablesLeftOut)
})

for (const source of engines) {
  describe(`An archive of a ${source.name} database`, () => {
    test('the output lists its tables, only the owner can read it, and no temporary file is left', async () => {
      const { service, file, made } = sourceOn(source)
      assert.deepEqual(Object.keys(made), ['file', 'bytes', 'seconds', 'tables'])
      assert.deepEqual(
        made.tables.map(({ table }) => table),
        archiveTables.map(({ name }) => name),
      )
      const stored = await archivedRows(service.url)
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
      test(`restoring it into ${target.name} copies every column, and the service continues where it stopped`, async () => {
        const { service, filled, file, made } = sourceOn(source)
        const database = await newDatabase(target)
        const restored = await json(settings(database.url, service.secretKey), ['restore', file])
        assert.deepEqual(restored.tables, made.tables)
        assert.deepEqual(await archivedRows(database.url), await archivedRows(service.url))

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
        const ofOrganisation = [
          '/prompts',
          '/keys',
          '/usage',
          '/audit?limit=100',
          '/repositories',
          '/delivery',
          '/trials',
        ]
        const ofPeople = ['/shares', '/invitations', '/telemetry']
        const text = `/prompts/${await scenario.promptId('prompts/p.md')}/text`
        for (const page of [...pages, ...ofOrganisation, ...ofPeople, text]) {
          const [here, there] = await Promise.all([ask(service, page), ask(moved, page)])
          assert.equal(here.statusCode, 200, page)
          assert.equal(there.body, here.body, page)
        }

        const headers = { authorization: `Bearer ${filled.shareToken}` }
        const shared = await moved.app.inject({ url: `/api/v1/prompts/${tenant.prompt.publicId}`, headers })
        assert.equal(shared.statusCode, 200, 'a share link ended')

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
        const responses = []
        for (let i = 0; i < 4; i++) responses.push(await send(moved, { value: 'negative' }))
        assert.deepEqual(
          responses.map(({ statusCode }) => statusCode),
          [201, 201, 201, 429],
        )
        assert.equal(responses[3]?.json().error.used, 1_000)
        assert.ok(responses[0]?.json().data.id > lastId, 'the id of a deleted signal was reused')

        const delivered = await moved.app.inject({
          method: 'POST',
          url: `/webhooks/${scenario.repository.hookId}`,
          ...webhook(scenario.forge.ping()),
        })
        assert.equal(delivered.statusCode, 202, 'the webhook secret cannot be decrypted')
        const created = await moved.app.inject({
          method: 'POST',
          url: '/api/v1/prompts',
          headers: tenant.headers,
          payload: { name: 'new.md' },
        })
        assert.equal(created.statusCode, 201)
      })

      if (target.name === source.name) continue
      test(`importing one organisation into an empty ${target.name} keeps its ids`, async () => {
        const { service, filled, exported } = sourceOn(source)
        const database = await newDatabase(target)
        const { organisation_id, moved } = await json(settings(database.url, service.secretKey), [
          'import',
          'organisation',
          exported,
        ])
        const { id } = filled.tenant.organisation
        assert.deepEqual({ organisation_id, moved }, { organisation_id: id, moved: {} })
        assert.deepEqual(
          withoutImportEntry(await archivedRows(database.url)),
          withoutImportEntry(asImported(onlyOf(await archivedRows(service.url), id))),
        )
      })
    }
  })
}

onEachEngine('An imported organisation', (engine) => {
  const other = engines.find(({ name }) => name !== engine.name) ?? engine

  test('it joins other organisations while they record, with its ids moved past theirs, and keeps working', async () => {
    const service = new TestService()
    await service.open(other)
    after(() => service.close())
    const filled = await fillDatabase(service)
    const file = newFile()
    const exported = ['export', '--org', String(filled.tenant.organisation.id), file]
    await json(settings(service.url, service.secretKey), exported)
    const host = new TestService()
    await host.open(engine)
    after(() => host.close())
    host.now = service.now
    host.secretKey = randomBytes(32)
    const resident = await fillDatabase(host)
    const before = onlyOf(await archivedRows(host.url), resident.other.organisation.id)
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
    const there = withoutImportEntry(onlyOf(await archivedRows(service.url), tenant.organisation.id))
    const here = withoutImportEntry(onlyOf(await archivedRows(host.url), id))
    for (const { name } of archiveTables) assert.equal(here[name]?.length, there[name]?.length, name)
    // IDs in texts are those of the same signals and entries.
    const progressOf = ({ trial_progress: rows = [] }: Everything) => JSON.parse(rows[0]?.[3] as string)
    const position = progressOf(there).read
    const shifted = { ...position, id: position.id + (moved.signals as number) }
    assert.partialDeepStrictEqual(progressOf(here), { read: shifted, late: shifted })
    const waitingIn = ({ waiting_evaluations: rows = [] }: Everything) => JSON.parse(rows[0]?.[4] as string)
    assert.equal(waitingIn(there).version, '#1')
    assert.equal(waitingIn(here).version, `#${1 + (moved.history_entries as number)}`)
    assert.equal((await host.store.audit.verify(id)).brokenAt, null)
    const { signals: _, signal_hours: __, signal_usage: ___, ...unchanged } = before
    assert.partialDeepStrictEqual(onlyOf(await archivedRows(host.url), resident.other.organisation.id), unchanged)

    const guest = await serviceOn(engine, { url: host.url, remove: async () => {} }, service)
    guest.syncContext.dataDir = service.syncContext.dataDir
    const ask = async (of: TestService, url: string) => {
      const response = await of.app.inject({ url: `/api/v1${url}`, headers: tenant.headers })
      assert.equal(response.statusCode, 200, response.body)
      return response.json()
    }
    // The same responses, except for ids.
    const promptId = await scenario.promptId('prompts/p.md')
    const history = (await ask(service, `/prompts/${promptId}/history`)).data as { id: number }[]
    assert.deepEqual(
      (await ask(guest, `/prompts/${promptId}/history`)).data,
      history.map((entry) => ({ ...entry, id: entry.id + (moved.history_entries as number) })),
    )
    const audit = (await ask(guest, '/audit?limit=100')).data as AuditBody[]
    const sourceAudit = (await ask(service, '/audit?limit=100')).data as AuditBody[]
    assert.deepEqual(
      audit.filter(({ action }) => action !== 'organisation.imported').map(({ hash: _, ...entry }) => entry),
      sourceAudit.map((entry) => expectedAudit(entry, moved)),
    )
    const send = () =>
      guest.app.inject({
        method: 'POST',
        url: `${tenant.path}/signals`,
        headers: { ...tenant.headers, 'idempotency-key': idempotencyKey },
        payload: { value: 'positive' },
      })
    const stored = (await archivedRows(host.url)).signals?.length
    assert.equal((await send()).statusCode, 201)
    assert.equal((await archivedRows(host.url)).signals?.length, stored, 'a repeated request was recorded twice')

    // Merging the imported pull request finds the same prompt.
    const { git, forge } = scenario
    const [repository] = await guest.store.repositories.list(id)
    assert.ok(repository)
    const merge = git.merge('pull-7', 'Merge it')
    git.push()
    const pull = { number: 7, head: git.head('pull-7'), mergeCommit: merge, at: '2026-11-02T11:00:00Z' }
    const delivery = forge.pull({ action: 'merged', ...pull })
    const response = await guest.app.inject({
      method: 'POST',
      url: `/webhooks/${repository.hookId}`,
      ...webhook(delivery),
    })
    assert.equal(response.statusCode, 202)
    await syncOnce(guest.syncContext, repository.id)
    const newest = (await ask(guest, `/prompts/${promptId}/history`)).data[0]
    assert.partialDeepStrictEqual(newest, { action: 'pr_merged', pr_number: 7, commit_sha: merge })
    assert.equal((await ask(guest, `/prompts/${promptId}/history?limit=100`)).data.length, history.length + 1)

    await assertRejected(
      env,
      ['import', 'organisation', file],
      /^promptledger: The key .+ already exists here, in organisation \d+/,
    )
    await queryRows(host.url, `update api_keys set hash = 'x' || id where organisation_id = ${id}`)
    await assertRejected(env, ['import', 'organisation', file], /: The signing key pages .+ already exists here/)
    await queryRows(host.url, `update api_keys set signing_id = null where organisation_id = ${id}`)
    await assertRejected(env, ['import', 'organisation', file], /: The webhook of repository \S+ already exists here/)
    await queryRows(host.url, `update repositories set hook_id = 'x' || id where organisation_id = ${id}`)
    await assertRejected(env, ['import', 'organisation', file], /: The prompt pmt_\w+ already exists here/)
    assert.equal((await archivedRows(host.url)).organisations?.length, (here.organisations?.length as number) + 3)
  })

  test('its secrets are encrypted again with the new key, and it is rejected without the old key', async () => {
    const { service, filled, exported: file } = sourceOn(other)
    const database = await newDatabase(engine)
    const newKey = randomBytes(32)
    const env = settings(database.url, newKey)
    const another =
      /The secrets of 1 repository, 1 organisation, 3 alerts, 1 signing key and 2 sources were encrypted with another secret key\. .+ Nothing was changed/
    await assertRejected(env, ['import', 'organisation', file], another)
    const none = /encrypted with another secret key, and none is set here/
    await assertRejected(settings(database.url, null), ['import', 'organisation', file], none)
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
      (await archivedRows(left.url)).repositories,
      asImported(onlyOf(await archivedRows(service.url), filled.tenant.organisation.id)).repositories,
    )
  })

  test('it is rejected where the retention period would remove its oldest signals', async () => {
    const { service, exported } = sourceOn(other)
    const database = await newDatabase(engine)
    const store = await openTestStore(database.url)
    await store.organisations.create(newOrganisation('Resident', 'free', 1))
    await store.signals.removeBatch(Date.parse('2100-01-01T00:00:00Z'))
    await store.close()
    const before = await archivedRows(database.url)
    const message = /does not keep signals from before 2100-01-01T00:00:00.000Z, and this organisation has \d+ of them/
    await assertRejected(settings(database.url, service.secretKey), ['import', 'organisation', exported], message)
    assert.deepEqual(await archivedRows(database.url), before)
  })

  test('it is rejected where signals are retained for longer than at its source, because pages could not be counted', async () => {
    const { service, exported } = sourceOn(other)
    const database = await newDatabase(engine)
    const store = await openTestStore(database.url)
    await store.organisations.create(newOrganisation('Resident', 'free', 1))
    await store.close()
    const before = await archivedRows(database.url)
    const message =
      /source has removed this organisation's signals from before 2026-02-01T00:00:00.000Z, but this database keeps signals for longer/
    await assertRejected(settings(database.url, service.secretKey), ['import', 'organisation', exported], message)
    assert.deepEqual(await archivedRows(database.url), before)
  })
})

interface AuditBody {
  id: number
  action: string
  actor: { key_id: number; person_id: number | null } | null
  subject: { id: string }
  details: { new_key_id?: number; repository_id?: number; entry_id?: number } | null
  hash: string
}

/** Without the hash, which covers the shifted ids. */
function expectedAudit({ hash: _, ...entry }: AuditBody, moved: Record<string, number>): Omit<AuditBody, 'hash'> {
  const subjects: Record<string, string> = {
    key: 'api_keys',
    person: 'people',
    invitation: 'invitations',
    repository: 'repositories',
    deployment: 'deployments',
    regression: 'regressions',
    signal: 'signals',
    signals: 'organisations',
    organisation: 'organisations',
  }
  const by = moved[subjects[entry.action.split('.')[0] as string] ?? '']
  const { new_key_id: newKey, repository_id: repository, entry_id: changed } = entry.details ?? {}
  const ids = {
    ...(newKey !== undefined && { new_key_id: newKey + (moved.api_keys as number) }),
    ...(repository !== undefined && { repository_id: repository + (moved.repositories as number) }),
    ...(changed !== undefined && { entry_id: changed + (moved.history_entries as number) }),
  }
  return {
    ...entry,
    id: entry.id + (moved.audit as number),
    actor: entry.actor && {
      ...entry.actor,
      key_id: entry.actor.key_id + (moved.api_keys as number),
      person_id: entry.actor.person_id && entry.actor.person_id + (moved.people as number),
    },
    subject: { ...entry.subject, id: by === undefined ? entry.subject.id : String(Number(entry.subject.id) + by) },
    details: entry.details && { ...entry.details, ...ids },
  }
}
