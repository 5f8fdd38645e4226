import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import pg from 'pg'
import { type Engine, isCitus, onEachEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore } from '../../../testing/service.ts'
import { generateSecret, hashSecret, newApiKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { createMigrationTable, readMigrations } from '../../src/store/migrations.ts'

onEachEngine(
  'An update of the database',
  (engine) => {
    test('keeps keys, sessions and audit entries of version 6, and chains the entries', async () => {
      const { url } = await engine.createEmpty()
      const secret = generateSecret()
      await run(engine, url, [
        ...statementsUpTo(engine, 6),
        `insert into organisations (name, plan, created_at) values ('Acme', 'free', 1)`,
        ...['revoked', 'ci'].map(
          (name) => `insert into api_keys (organisation_id, name, role, hash, hint, created_at, revoked_at)
          values (1, '${name}', 'admin', '${hashSecret(name === 'ci' ? secret : name)}', 'abcd', 1, ${name === 'ci' ? null : 1})`,
        ),
        `insert into sessions values ('${hashSecret('token')}', 1, 2, 1, 9000)`,
        `insert into audit (organisation_id, at, key_id, key_name, action, subject_id, subject_name, details)
        values (1, 5, 2, 'ci', 'key.revoked', '1', 'revoked', null)`,
        // IDs that were assigned and are no longer in use.
        engine.name === 'SQLite'
          ? `update sqlite_sequence set seq = 40 where name = 'api_keys'`
          : `select setval(pg_get_serial_sequence('api_keys', 'id'), 40)`,
      ])
      const store = await openTestStore(url, () => 1_000)
      const access = await store.keys.findAccess(hashSecret(secret))
      assert.deepEqual([access?.keyId, access?.role, access?.prompts], [2, 'admin', null])
      assert.equal((await store.sessions.findAccess(hashSecret('token')))?.keyId, 2)
      const { entries, brokenAt, unchained } = await store.audit.verify(1)
      assert.deepEqual([entries, brokenAt, unchained], [2, null, 0])
      const terms = {
        organisationId: 1,
        name: 'new',
        role: 'recorder',
        prompts: 'a/*',
        createdAt: 2,
        expiresAt: null,
      } as const
      assert.equal((await store.keys.create(newApiKey(generateSecret(), terms), operator)).id, 41)
      await assert.rejects(queryRows(url, `insert into sessions values ('t', 1, 99, 1, 2, null)`), /foreign key/i)
    })

    test('repairs votes with an ID that was never assigned, which no archive could be restored with', async () => {
      const { url } = await engine.createEmpty()
      const isSqlite = engine.name === 'SQLite'
      await run(engine, url, [
        ...statementsUpTo(engine, 21),
        isSqlite ? `insert into sqlite_sequence (name, seq) values ('signals', 7)` : `select setval('signal_ids', 7)`,
        `insert into signal_subjects
           (organisation_id, prompt_id, subject, signal_id, vote_id, value, version, created_at, received_at)
         values (1, 1, 'a', 3, ${isSqlite ? 9 : 6}, 'positive', null, 1, 1)`,
      ])
      await openTestStore(url)
      const [vote] = await queryRows(url, 'select vote_id from signal_subjects')
      assert.equal(Number(vote?.vote_id), isSqlite ? 3 : 6)
    })
  },
  { skip: isCitus && 'a database is distributed at the newest version' },
)

function statementsUpTo({ name }: Engine, version: number): string[] {
  const folder = new URL(`../../src/store/${name === 'SQLite' ? 'sqlite' : 'postgres'}/migrations/`, import.meta.url)
  const migrations = readMigrations(folder).filter((migration) => migration.version <= version)
  return [
    createMigrationTable,
    ...migrations.flatMap(({ version, name, sql }) => [
      sql,
      `insert into schema_migrations (version, name, applied_at) values (${version}, '${name}', 1)`,
    ]),
  ]
}

async function run({ name }: Engine, url: string, statements: string[]): Promise<void> {
  if (name === 'SQLite') {
    const database = new DatabaseSync(url.slice('sqlite:'.length))
    for (const sql of statements) database.exec(sql)
    database.close()
    return
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const sql of statements) await client.query(sql)
  await client.end()
}
