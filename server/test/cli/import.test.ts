import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { importLines, runCli, runCliJson, smallHeap } from '../../../testing/cli.ts'
import { engines, onEachEngine, sqlite, type TestDatabase } from '../../../testing/engines.ts'
import { queryRows, usageOf } from '../../../testing/rows.ts'
import { TestService } from '../../../testing/service.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'
import { day, hour, isoTime } from '../../src/domain/time.ts'

const sha = 'ab'.repeat(20)

const entry = (i: number) =>
  JSON.stringify({
    action: 'pr_closed',
    user: { name: `A${i}`, email: 'a@example.com' },
    commit_sha: sha,
    pr_number: i,
    pr_url: `https://example.com/${i}`,
    branch_name: 'x',
    created_at: new Date(i * 1_000).toISOString(),
  })

async function createPrompt({ url }: TestDatabase): Promise<{ org: number; prompt: string }> {
  const { id: org } = await runCliJson<{ id: number }>(url, ['org', 'create', 'Acme'])
  const args = ['prompt', 'create', '--org', String(org), '--name', 'a.md']
  return { org, prompt: (await runCliJson<{ id: string }>(url, args)).id }
}

const entriesIn = ({ url }: TestDatabase) => queryRows(url, 'select created_at from history_entries order by position')

onEachEngine('Importing lines', (engine) => {
  test('history lines are stored in order of time, and entries that exist are left alone', async () => {
    const database = await engine.create()
    const { prompt } = await createPrompt(database)
    const lines = Array.from({ length: 2_500 }, (_, i) => entry(i + 1))
    const run = (input: string) => runCliJson(database.url, ['import', 'history', prompt], input)
    assert.deepEqual(await run(lines.join('\n')), { imported: 2_500, already_there: 0 })
    const more = [...lines.slice(0, 10), '', entry(5_000)].join('\r\n')
    assert.deepEqual(await run(more), { imported: 1, already_there: 10 })
    const stored = (await entriesIn(database)).map(({ created_at }) => Number(created_at))
    assert.equal(stored.length, 2_501)
    assert.equal(stored.at(-1), 5_000_000)
  })

  test('the metadata of signals is stored byte for byte, and each counts in its own month', async () => {
    const database = await engine.create()
    const { org, prompt } = await createPrompt(database)
    const metadata = '{"big":12345678901234567890, "__proto__": 1}'
    const lines = [
      `{"value":"positive","metadata":${metadata},"created_at":"2026-03-31T23:59:59.999Z"}`,
      '{"value":"negative","metadata":null,"created_at":"2026-04-01T00:00:00Z"}',
      '{"value":"negative","created_at":"2026-04-01T00:00:00Z"}',
    ]
    const imported = await runCliJson(database.url, ['import', 'signals', prompt], lines.join('\n'))
    assert.deepEqual(imported, { imported: 3, replaced: 0 })
    const months = await usageOf(database.url, org)
    assert.deepEqual(
      months.map(({ used }) => used),
      [1, 2],
    )
    const stored = await queryRows(database.url, 'select metadata from signals order by id')
    assert.deepEqual(
      stored.map((row) => row.metadata),
      [metadata, null, null],
    )
  })

  test('an import that uses up the month says so, and how to raise the limit', async () => {
    const database = await engine.create()
    const { org, prompt } = await createPrompt(database)
    const line = `${JSON.stringify({ value: 'positive', created_at: isoTime(Date.now()) })}\n`
    const run = async (count: number) =>
      (await runCli({ DATABASE_URL: database.url }, ['import', 'signals', prompt], line.repeat(count))).stdout
    assert.doesNotMatch(await run(999), /This month/)
    const raise = `To raise the limit: promptledger org set-plan ${org} team`
    assert.match(
      await run(2),
      new RegExp(`This month has 1,001 of 1,000 signals: new ones are rejected until .*${raise}`),
    )
  })

  test('versions, voters, comments and times of signals are imported, with voters hashed', async () => {
    const database = await engine.create()
    const { org, prompt } = await createPrompt(database)
    const env = { DATABASE_URL: database.url, PROMPTLEDGER_SECRET_KEY: 'ab'.repeat(32) }
    const at = '"created_at":"2026-04-01T00:00:00.000Z"'
    const lines = [
      `{"value":"positive",${at},"version":"ABCDEF1","voter":"Ada","comment":"two\\nlines","trace_id":"${'ab'.repeat(16)}"}`,
      `{"value":"negative",${at},"version":7,"voter":"Ada","occurred_at":"2026-03-31T23:00:00Z","subject":null}`,
      `{"value":"negative",${at},"version":"v2","comment":"","voter":null}`,
    ]
    const { code, stderr } = await runCli(env, ['import', 'signals', 'a.md'], lines.join('\n'))
    assert.equal(code, 0, stderr)
    const stored = await queryRows(database.url, 'select * from signals order by id')
    assert.deepEqual(
      stored.map(({ version, comment, trace_id, created_at }) => [version, comment, trace_id, Number(created_at)]),
      [
        ['abcdef1', 'two\nlines', 'ab'.repeat(16), Date.parse('2026-04-01T00:00:00Z')],
        ['#7', null, null, Date.parse('2026-03-31T23:00:00Z')],
        [':v2', null, null, Date.parse('2026-04-01T00:00:00Z')],
      ],
    )
    assert.match(String(stored[0]?.voter), /^[0-9A-Za-z_-]{43}$/)
    assert.deepEqual([stored[1]?.voter, stored[2]?.voter], [stored[0]?.voter, null])
    // All of them arrived in April.
    assert.deepEqual(
      (await usageOf(database.url, org)).map(({ used }) => used),
      [3],
    )
    await assertSumsAgree(database.url)
    const wrong: [string, RegExp][] = [
      ['"subject":""', /line 1: subject must/],
      ['"subject":"a\\nb"', /line 1: subject must not contain control characters/],
      [`"id":1,"voter":"${'x'.repeat(43)}"`, /line 1: voter is a hash, like those of an export. Use --hashed-voters/],
      ['"version":""', /line 1: version must/],
      ['"version":-1', /line 1: version must/],
      ['"comment":"\\u0000"', /line 1: comment must/],
      ['"occurred_at":"2026-04-02T00:00:00Z"', /line 1: occurred_at must not be later/],
      ['"trace_id":"x"', /line 1: trace_id must/],
    ]
    for (const [field, message] of wrong) {
      const rejected = await runCli(env, ['import', 'signals', prompt], `{"value":"positive",${at},${field}}`)
      assert.equal(rejected.code, 1, field)
      assert.match(rejected.stderr, message)
    }
  })

  test('an export of signals can be imported into another prompt, and is the same there', async () => {
    const service = new TestService()
    await service.open(engine)
    const tenant = await service.tenant()
    const send = async (body: object, headers = {}) => {
      assert.ok((await tenant.signal(body, headers)).statusCode < 300)
    }
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    await send({ value: 'positive' })
    await send({ value: 'positive', metadata: { 'gen_ai.prompt.version': '3', n: 1 }, voter: 'Ada', comment: 'a\nb' })
    await send({ value: 'negative', version: 'ABCDEF1', subject: 'out-1', voter: 'Ada' }, { traceparent })
    await send({ value: 'negative', version: 12, occurred_at: isoTime(service.now - 3 * day), subject: 'out-2' })
    await send({ value: 'positive', subject: 'withdrawn' })
    await send({ value: null, subject: 'withdrawn' })
    // A vote counts for a time after its creation if it was replaced later.
    service.now += day
    await send({ value: 'positive', subject: 'out-1', voter: 'Bob', occurred_at: isoTime(service.now - 3 * hour) })

    const target = await service.prompt(tenant.organisation, 'moved.md')
    const exportOf = async ({ publicId }: { publicId: string }) => {
      const url = `/api/v1/prompts/${publicId}/signals/export`
      return (await service.app.inject({ url, headers: tenant.headers })).body
    }
    const exported = await exportOf(tenant.prompt)
    const run = () => runCliJson(service.url, ['import', 'signals', target.publicId, '--hashed-voters'], exported)
    assert.deepEqual(await run(), { imported: 4, replaced: 0 })
    const withoutIds = (text: string) => text.replaceAll(/"id":\d+,/g, '')
    assert.equal(withoutIds(await exportOf(target)), withoutIds(exported))
    await assertSumsAgree(service.url)
    // Only signals without a subject can be imported twice.
    assert.deepEqual(await run(), { imported: 2, replaced: 2 })
    await assertSumsAgree(service.url)
    const clear = '{"value":"positive","created_at":"2026-04-01T00:00:00Z","voter":"Ada"}'
    const rejected = await runCli(
      { DATABASE_URL: service.url },
      ['import', 'signals', target.publicId, '--hashed-voters'],
      clear,
    )
    assert.match(rejected.stderr, /line 1: voter must be a hash of 43 characters/)
  })

  test('a wrong line after thousands of good ones is named, and nothing is stored', async () => {
    const database = await engine.create()
    const { org, prompt } = await createPrompt(database)
    const good = Array.from({ length: 2_500 }, (_, i) => entry(i + 1)).join('\n')
    const { code, stdout, stderr } = await runCli(
      { DATABASE_URL: database.url },
      ['import', 'history', prompt, '--json'],
      `${good}\nnot json\n`,
    )
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /^promptledger: line 2501: [^\n]+\n$/)
    assert.deepEqual(await entriesIn(database), [])
    const signals =
      '{"value":"positive","created_at":"2026-01-01T00:00:00Z"}\n{"value":"good","created_at":"2026-01-01T00:00:00Z"}'
    const rejected = await runCli({ DATABASE_URL: database.url }, ['import', 'signals', prompt], signals)
    assert.match(rejected.stderr, /line 2: value must be "positive" or "negative"/)
    assert.deepEqual(await usageOf(database.url, org), [])
  })
})

describe('Importing lines', () => {
  test('the message for a wrong line says what is wrong with it', async () => {
    const database = await sqlite.create()
    const { prompt } = await createPrompt(database)
    const wrong: [string | Buffer, RegExp][] = [
      ['not json', /line 1: [^\n]*not valid JSON/],
      ['[1]', /line 1: [^\n]*must be a JSON object/],
      ['{"action":"deployed"}', /line 1: user is required/],
      [
        entry(1).replace('pr_closed', 'merged'),
        /line 1: action must be "deployed", "pr_opened", "pr_merged" or "pr_closed"/,
      ],
      [entry(1).replace('"pr_number":1', '"pr_number":"1"'), /line 1: pr_number must be an integer or null/],
      [entry(1).replace('"pr_number":1', '"pr_number":null'), /line 1: pr_number is required for pr_closed/],
      [entry(1).replace('https:', 'javascript:'), /line 1: pr_url must be an http or https/],
      [entry(1).replace(sha, 'abc123'), /line 1: commit_sha must be the full commit hash/],
      [entry(1).replace('A1', ' '), /line 1: user.name must not be empty/],
      [entry(1).replace('1970-01-01', '1970-02-30'), /line 1: created_at must be an ISO 8601 time/],
      [Buffer.from([0x22, 0xff, 0x22]), /line 1: [^\n]*not valid UTF-8/],
      // Just over the limit, and over it by several chunks.
      ['x'.repeat(1024 * 1024 + 1), /line 1: [^\n]*longer than/],
      ['x'.repeat(1_100_000), /line 1: [^\n]*longer than/],
    ]
    for (const [line, message] of wrong) {
      const { code, stderr } = await runCli({ DATABASE_URL: database.url }, ['import', 'history', prompt], line)
      assert.equal(code, 1, String(message))
      assert.match(stderr, message)
      assert.equal(stderr.trim().split('\n').length, 1)
    }
    assert.deepEqual(await entriesIn(database), [])
  })

  test('an import larger than the heap runs in constant memory', async () => {
    const line = `{"value":"positive","metadata":{"filler":"${'x'.repeat(14_000)}"},"created_at":"2026-01-01T00:00:00Z"}`
    for (const engine of engines) {
      const database = await engine.create()
      const { prompt } = await createPrompt(database)
      // 70 MB of lines.
      await importLines(database.url, ['signals', prompt], Array(5_000).fill(line), smallHeap)
      const [stored] = await queryRows(database.url, 'select count(*) as n from signals')
      assert.equal(Number(stored?.n), 5_000, engine.name)
    }
  })
})
