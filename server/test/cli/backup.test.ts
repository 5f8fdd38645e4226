import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { runCliProcess, smallHeap } from '../../../testing/cli.ts'
import { onEachEngine, onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { archivedRows } from '../../../testing/filled-database.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, type Tenant, TestService } from '../../../testing/service.ts'
import { inBatches } from '../../../testing/signals.ts'
import { type Archive, checkArchiveFile, readArchiveRows } from '../../src/archive/file.ts'
import { archiveTables } from '../../src/store/sql/archive-tables.ts'
import { assertRejected, json, newDatabase, newFile, type Printed, settings, sourceOn } from './archive-source.ts'

/** 30 MB in 5,000 rows, which do not fit into a small heap together with the program. */
async function fillLarge({ service, organisation, prompt }: Tenant): Promise<void> {
  const metadata = JSON.stringify({ filler: 'x'.repeat(6_000) })
  const owner = { organisationId: organisation.id, promptId: prompt.id }
  const signal = { ...owner, value: 'positive', metadata, createdAt: service.now } as const
  await service.store.signals.import(inBatches(...Array(5).fill(Array(1_000).fill(signal))))
}

// Triggers that change rows as they are stored.
const sqliteTampering = [
  `create trigger tampering after insert on audit begin update audit set subject_name = 'x' where id = new.id; end`,
]
const postgresTampering = [
  `create function tampering() returns trigger language plpgsql as $$ begin new.subject_name = 'x'; return new; end $$`,
  'create trigger tampering before insert on audit for each row execute function tampering()',
]

// Slow: backs up and restores 30 MB on each engine, in a heap of 44 MB. The program itself needs most of it.
onEachEngine('A backup', (engine) => {
  test('a backup taken while signals are recorded is a snapshot with every signal acknowledged before it began', async () => {
    const service = new TestService()
    await service.open(engine)
    after(() => service.close())
    const tenant = await service.tenant('business')
    await tenant.fillMonth(2_000)
    // Record a signal between any two tables.
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
    const acknowledged: number[] = []
    const recorders = Array.from({ length: 3 }, async () => {
      while (recording) acknowledged.push((await tenant.signal({ value: 'positive' })).json().data.id)
    })
    await eventually(() => acknowledged.length >= 10)
    const before = acknowledged.slice()
    const file = newFile()
    await json(settings(service.url, null), ['backup', file]).finally(() => {
      recording = false
    })
    await Promise.all(recorders)
    assert.ok(acknowledged.length > before.length + 10, 'no signal was recorded during the backup')
    const copy = await newDatabase(engine)
    await json(settings(copy.url, null), ['restore', file])
    const stored = await queryRows(copy.url, 'select id from signals')
    const [usage] = await queryRows(copy.url, 'select sum(used) as used from month_usage')
    const [hours] = await queryRows(copy.url, 'select sum(positive + negative) as count from hour_sums')
    assert.equal(Number(usage?.used), stored.length)
    assert.equal(Number(hours?.count), stored.length)
    const ids = new Set(stored.map(({ id }) => Number(id)))
    assert.ok(before.every((id) => ids.has(id)))
  })

  test('backup and restore run in constant memory', async () => {
    const service = new TestService()
    await service.open(engine)
    after(() => service.close())
    await fillLarge(await service.tenant())
    const [file, copy] = [newFile(), await newDatabase(engine)]
    const run = async (url: string, command: string): Promise<Printed> => {
      const env = { ...settings(url, null), NODE_OPTIONS: smallHeap.join(' ') }
      const { code, stdout, stderr } = await runCliProcess(env, [command, file, '--json'])
      assert.equal(code, 0, stderr)
      return JSON.parse(stdout)
    }
    const { tables } = await run(service.url, 'backup')
    assert.deepEqual((await run(copy.url, 'restore')).tables, tables)
  })

  test('a restore that reads back different rows stores nothing', async () => {
    const { service, file } = sourceOn(engine)
    const database = await newDatabase(engine)
    await (await openTestStore(database.url)).close()
    const empty = await archivedRows(database.url)
    for (const sql of engine.name === 'SQLite' ? sqliteTampering : postgresTampering) await queryRows(database.url, sql)
    const message = /rows read back from audit differ from the archive \(\d+ of \d+ rows\)\. Nothing was stored/
    await assertRejected(settings(database.url, service.secretKey), ['restore', file], message)
    assert.deepEqual(await archivedRows(database.url), empty)
  })

  test('an archive that could not be stored again is not written, and the error says why', async () => {
    const service = new TestService()
    await service.open(engine)
    after(() => service.close())
    const { organisation } = await service.tenant()
    const env = settings(service.url, null)
    const org = String(organisation.id)
    const [file, exported] = [newFile(), newFile()]
    await queryRows(
      service.url,
      `insert into signal_subjects (organisation_id, prompt_id, subject, signal_id, vote_id, created_at, received_at)
       values (${org}, 1, 'a', 1, 99, 1, 1)`,
    )
    for (const args of [
      ['backup', file],
      ['export', '--org', org, exported],
    ]) {
      const message = /was not written, because it could not be restored: .+a row of signal_subjects has an invalid ID/
      await assertRejected(env, args, message)
    }
    await queryRows(service.url, 'delete from signal_subjects')
    await queryRows(
      service.url,
      `update organisations set name = 'a' || chr(7)`.replace('chr', engine.name === 'SQLite' ? 'char' : 'chr'),
    )
    await assertRejected(
      env,
      ['export', '--org', org, exported],
      /was not written, .+: Row 1 of organisations .+ name must not contain/,
    )
    assert.deepEqual([existsSync(file), existsSync(exported)], [false, false])
  })
})

onOneEngine('The file of a backup', (engine) => {
  test('a backup overwrites a file only with --force', async () => {
    const database = await newDatabase(engine)
    const file = newFile()
    await writeFile(file, 'mine')
    const env = settings(database.url, null)
    await assertRejected(env, ['backup', file], /already exists\. Choose another file, or overwrite it with --force/)
    assert.equal(await readFile(file, 'utf8'), 'mine')
    const { bytes } = await json(env, ['backup', file, '--force'])
    assert.equal((await stat(file)).size, bytes)
    await assertRejected(env, ['export', '--org', '99', newFile()], /There is no organisation 99/)
  })

  test('a damaged or foreign file is rejected, and the database is unchanged', async () => {
    const { service, file, exported } = sourceOn(engine)
    const bytes = await readFile(file)
    const text = gunzipSync(bytes).toString()

    const damaged = newFile()
    const target = await newDatabase(engine)
    const env = settings(target.url, service.secretKey)
    await (await openTestStore(target.url)).close()
    const empty = await archivedRows(target.url)
    const flipped = Buffer.from(bytes)
    flipped[Math.floor(bytes.length / 2)] = (flipped[Math.floor(bytes.length / 2)] as number) ^ 1
    const cases: [Buffer | string, RegExp][] = [
      [flipped, /is damaged \(.+\)\. Nothing was changed/],
      [bytes.subarray(0, bytes.length - 9), /is damaged \(unexpected end of file\)/],
      [bytes.subarray(0, bytes.length / 2), /is damaged \(unexpected end of file\)/],
      [gzipSync(text.slice(0, text.lastIndexOf('{"end"'))), /is damaged \(the end is missing\)/],
      [gzipSync(text.slice(0, -1)), /is damaged \(the last line is cut off\)/],
      [gzipSync(text.replace('"Acme"', '"Acne"')), /is damaged \(the checksum does not match\)/],
      [gzipSync(`${text}[]\n`), /is damaged \(there is data after its end\)/],
      [gzipSync(text.replace('"hint"', '"hind"')), /is damaged \(the table api_keys does not start here\)/],
      [
        gzipSync(text.replace('"version":1', '"version":2')),
        /was created by another build of Promptledger .+Update it/,
      ],
      [
        gzipSync(text.replace('"schema":', '"schema":9').replace('"promptledger":"', '"promptledger":"9')),
        /was created by Promptledger 9\S+, with database version 9\d+\. This one, \S+, has database version \d+, which is older/,
      ],
      [
        gzipSync(text.replace(/"schema":\d+/, '"schema":1')),
        /was created by another build of Promptledger \S+, with database version 1\. This one has database version \d+, which is newer\. Restore/,
      ],
      [gzipSync('{"format":"other"}\n'), /is not a Promptledger archive\. Nothing was changed/],
      ['', /is damaged \(unexpected end of file\)|is not a Promptledger archive/],
      ['{"value":"positive"}\n', /is not a Promptledger archive/],
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
    await assertRejected(env, ['restore', damaged], /is damaged/)
    // Nothing opens a database for them either, so a later start does not take an empty one for the one to be restored.
    const missing = `${newFile()}.db`
    const elsewhere = { ...env, DATABASE_URL: `sqlite:${missing}` }
    for (const [rejected, why] of [
      [damaged, /is damaged/],
      [exported, /contains one organisation/],
    ] as const) {
      await assertRejected(elsewhere, ['restore', rejected], why)
    }
    await assertRejected(
      { ...elsewhere, PROMPTLEDGER_SECRET_KEY: '0'.repeat(64) },
      ['restore', file],
      /another secret key/,
    )
    assert.equal(existsSync(missing), false)
    await assertRejected(
      env,
      ['restore', exported],
      /contains one organisation\. Use 'promptledger import organisation/,
    )
    await assertRejected(env, ['import', 'organisation', file], /contains a whole database\. Use 'promptledger restore/)
    assert.deepEqual(await archivedRows(target.url), empty)

    const stored = await archivedRows(service.url)
    await assertRejected(
      settings(service.url, service.secretKey),
      ['restore', file],
      /already contains organisations, and a backup can only be restored into an empty one/,
    )
    assert.deepEqual(await archivedRows(service.url), stored)
  })

  test('a forged archive cannot reach rows of other organisations, and a file that changes while it is read is rejected', async () => {
    const { exported } = sourceOn(engine)
    const text = gunzipSync(await readFile(exported)).toString()
    const schema = Number(/"schema":(\d+)/.exec(text)?.[1])
    const read = async (archive: Archive, from: string) => {
      for await (const _ of readArchiveRows(from, archive));
    }
    const genuine = await checkArchiveFile(exported, schema, () => {})
    await read(genuine, exported)
    await assert.rejects(
      read({ ...genuine, sha256: 'another' }, exported),
      /is damaged \(it changed while it was read\)/,
    )
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
      await assert.rejects(
        checkArchiveFile(made, schema, () => {}),
        /a row of audit has an invalid ID/,
      )
    }
  })
})
