import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { promptledger, promptledgerJson, type RunningService, startServe } from '../../../testing/command.ts'
import { onEachEngine, type TestDatabase } from '../../../testing/engines.ts'
import { openTestStore, queryRows, usageOf } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'

interface Entry {
  id: number
  action: string
  created_at: string
}

const sha = 'ab'.repeat(20)

onEachEngine('The command', (engine) => {
  let database: TestDatabase
  let service: RunningService
  before(async () => {
    database = await engine.create()
    service = await startServe({ DATABASE_URL: database.url, PROMPTLEDGER_FIRST_RUN: 'off' })
  })
  after(async () => {
    await service.stop()
    await database.remove()
  })

  const run = (args: string[], input?: string | Buffer) => promptledger({ DATABASE_URL: database.url }, args, input)
  const json = <T>(args: string[], input?: string | Buffer) => promptledgerJson<T>(database.url, args, input)

  async function tenant(plan = 'free') {
    const org = (await json<{ id: number }>(['org', 'create', 'Acme', '--plan', plan])).id
    const key = await json<{ id: number; key: string }>(['key', 'create', '--org', String(org)])
    const prompt = (await json<{ id: string }>(['prompt', 'create', '--org', String(org), '--name', 'a.md'])).id
    const headers = { authorization: `Bearer ${key.key}` }
    const ask = async (path: string, init: RequestInit = {}) =>
      fetch(`${service.address}/api/v1/prompts/${prompt}/${path}`, {
        ...init,
        headers: { ...headers, ...init.headers },
      })
    const signal = () =>
      ask('signals', { method: 'POST', body: '{"value":"positive"}', headers: { 'content-type': 'application/json' } })
    return { org, key, prompt, history: () => ask('history'), signal }
  }

  test('creates, lists and changes organisations', async () => {
    const created = await json<{ id: number }>(['org', 'create', 'Größe & Söhne', '--plan', 'team'])
    assert.deepEqual(Object.keys(created), ['id', 'name', 'plan', 'created_at'])
    assert.partialDeepStrictEqual(created, { name: 'Größe & Söhne', plan: 'team' })
    const changed = await json(['org', 'set-plan', String(created.id), 'business'])
    assert.deepEqual(changed, { ...created, plan: 'business' })
    const all = await json<object[]>(['org', 'list'])
    assert.deepEqual(all.at(-1), changed)
  })

  test('creates keys with the shape, the checksum and the fields that are promised, and stores only their hash', async () => {
    const { org } = await tenant()
    const args = ['key', 'create', '--org', String(org), '--name', 'ci', '--role', 'ingest', '--expires', '90d']
    const key = await json<Record<string, string>>(args)
    assert.deepEqual(Object.keys(key), ['id', 'key', 'organisation_id', 'name', 'role', 'created_at', 'expires_at'])
    assert.match(key.key as string, /^plk_[0-9A-Za-z]{49}$/)
    assert.equal(Date.parse(key.expires_at as string) - Date.parse(key.created_at as string), 90 * 86_400_000)
    const [row] = await queryRows(database.url, `select * from api_keys where id = ${key.id}`)
    assert.match(String(row?.hash), /^[0-9a-f]{64}$/)
    assert.equal(row?.hint, key.key?.slice(-4))
    assert.ok(!JSON.stringify(row).includes(key.key?.slice(4, 40) as string), 'the key itself is stored')
    const listed = await json<Record<string, unknown>[]>(['key', 'list', '--org', String(org)])
    assert.ok(!JSON.stringify(listed).includes(key.key as string))
    assert.equal(listed.at(-1)?.hint, key.key?.slice(-4))
  })

  test('revokes a key so that the next request is refused', async () => {
    const { key, history } = await tenant()
    assert.equal((await history()).status, 200)
    await json(['key', 'revoke', String(key.id)])
    assert.equal((await history()).status, 401)
  })

  test('rotates a key: the new one works, the old one until the overlap ends', async () => {
    const { key, org, history } = await tenant()
    const rotated = await json<{ key: string; organisation_id: number }>([
      'key',
      'rotate',
      String(key.id),
      '--overlap',
      '1h',
    ])
    assert.notEqual(rotated.key, key.key)
    assert.equal(rotated.organisation_id, org)
    assert.equal((await history()).status, 200)
    await json(['key', 'rotate', String(key.id), '--overlap', '0m'])
    assert.equal((await history()).status, 401)
    const again = await run(['key', 'rotate', String(key.id)])
    assert.equal(again.code, 1)
    assert.match(again.stderr, /^promptledger: Key \d+ is revoked or has expired: create a new one/)
  })

  test('changes a plan so that the next request meets the new limit', async () => {
    const { org, prompt, signal } = await tenant('team')
    const line = JSON.stringify({ value: 'positive', created_at: new Date().toISOString() })
    assert.deepEqual(await json(['import', 'signals', prompt], `${line}\n`.repeat(1_000)), { imported: 1_000 })
    assert.equal((await signal()).status, 201)
    await json(['org', 'set-plan', String(org), 'free'])
    const refused = await signal()
    assert.equal(refused.status, 429)
    assert.partialDeepStrictEqual(await refused.json(), { error: { limit: 1_000, used: 1_001 } })
  })

  test('deletes a prompt so that the next request does not find it', async () => {
    const { org, prompt, history, signal } = await tenant()
    assert.equal((await signal()).status, 201)
    await json(['prompt', 'delete', prompt])
    assert.equal((await history()).status, 404)
    assert.equal((await signal()).status, 404)
    assert.deepEqual(await json(['prompt', 'list', '--org', String(org)]), [])
    assert.equal((await run(['prompt', 'delete', prompt])).code, 1)
    assert.deepEqual((await usageOf(database.url, org))[0]?.used, 1)
  })

  test('records history that the service shows at once', async () => {
    const { prompt, history } = await tenant()
    assert.partialDeepStrictEqual(await (await history()).json(), { data: [] })
    const who = ['--user-name', 'Ada', '--user-email', 'ada@example.com', '--commit', sha, '--branch', 'main']
    const direct = await json<Entry>([
      'history',
      'record',
      prompt,
      '--action',
      'deployed',
      ...who,
      '--at',
      '2026-01-02T03:04:05+02:00',
    ])
    assert.equal(direct.created_at, '2026-01-02T01:04:05.000Z')
    const pr = ['--pr-number', '7', '--pr-url', 'https://example.com/7']
    const merged = await json<Entry>(['history', 'record', prompt, '--action', 'pr_merged', ...who, ...pr])
    const { data } = (await (await history()).json()) as { data: Entry[] }
    assert.deepEqual(data, [merged, direct])
  })

  describe('import', () => {
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

    test('stores history lines in their order and leaves those alone that are there', async () => {
      const { prompt, history } = await tenant()
      const lines = Array.from({ length: 4_500 }, (_, i) => entry(i + 1))
      assert.deepEqual(await json(['import', 'history', prompt], lines.join('\n')), {
        imported: 4_500,
        already_there: 0,
      })
      const more = [...lines.slice(0, 10), '', entry(5_000)].join('\r\n')
      assert.deepEqual(await json(['import', 'history', prompt], more), { imported: 1, already_there: 10 })
      const page = (await (await history()).json()) as { pagination: object; data: Entry[] }
      assert.partialDeepStrictEqual(page.pagination, { total_count: 4_501 })
      assert.equal(page.data[0]?.created_at, new Date(5_000_000).toISOString())
    })

    test('names the line that is wrong and stores nothing', async () => {
      const { org, prompt, history } = await tenant()
      const good = Array.from({ length: 2_500 }, (_, i) => entry(i + 1)).join('\n')
      const bad: [string | Buffer, RegExp][] = [
        ['not json', /line 2501: the text is not valid JSON/],
        ['[1]', /line 2501: the text must be a JSON object/],
        ['{"action":"deployed"}', /line 2501: user must be given/],
        [
          entry(1).replace('pr_closed', 'merged'),
          /line 2501: action must be "deployed", "pr_opened", "pr_merged" or "pr_closed"/,
        ],
        [entry(1).replace('"pr_number":1', '"pr_number":"1"'), /line 2501: pr_number must be an integer or null/],
        [entry(1).replace('"pr_number":1', '"pr_number":null'), /line 2501: pr_number must be given for pr_closed/],
        [entry(1).replace('https:', 'javascript:'), /line 2501: pr_url must be an http or https address/],
        [entry(1).replace(sha, 'abc123'), /line 2501: commit_sha must be the full commit hash/],
        [entry(1).replace('A1', ' '), /line 2501: user.name must not be empty/],
        [entry(1).replace('1970-01-01', '1970-02-30'), /line 2501: created_at must be an ISO 8601 time/],
        [Buffer.from([0x22, 0xff, 0x22]), /line 2501: it is not valid UTF-8/],
        // Wherever the parts end in which it comes.
        ['x'.repeat(1024 * 1024 + 1), /line 2501: it is longer than/],
        ['x'.repeat(1_100_000), /line 2501: it is longer than/],
      ]
      for (const [line, message] of bad) {
        const input = Buffer.concat([Buffer.from(`${good}\n`), Buffer.from(line), Buffer.from('\n')])
        const { code, stdout, stderr } = await run(['import', 'history', prompt, '--json'], input)
        assert.equal(code, 1, String(message))
        assert.equal(stdout, '')
        assert.match(stderr, message)
        assert.equal(stderr.trim().split('\n').length, 1)
      }
      assert.partialDeepStrictEqual(await (await history()).json(), { pagination: { total_count: 0 } })
      const signals =
        '{"value":"positive","created_at":"2026-01-01T00:00:00Z"}\n{"value":"good","created_at":"2026-01-01T00:00:00Z"}'
      const refused = await run(['import', 'signals', prompt], signals)
      assert.match(refused.stderr, /line 2: value must be "positive" or "negative"/)
      assert.deepEqual(await usageOf(database.url, org), [])
    })

    test('keeps the metadata of signals to the letter and counts them in their own months', async () => {
      const { org, prompt } = await tenant()
      const metadata = '{"big":12345678901234567890, "__proto__": 1}'
      const lines = [
        `{"value":"positive","metadata":${metadata},"created_at":"2026-03-31T23:59:59.999Z"}`,
        '{"value":"negative","metadata":null,"created_at":"2026-04-01T00:00:00Z"}',
        '{"value":"negative","created_at":"2026-04-01T00:00:00Z"}',
      ]
      assert.deepEqual(await json(['import', 'signals', prompt], lines.join('\n')), { imported: 3 })
      assert.deepEqual(
        (await usageOf(database.url, org)).map(({ used }) => used),
        [1, 2],
      )
      const stored = await queryRows(
        database.url,
        `select metadata from signals where organisation_id = ${org} order by id`,
      )
      assert.deepEqual(
        stored.map((row) => row.metadata),
        [metadata, null, null],
      )
    })
  })

  test('says in one line what failed, with exit status 1', async () => {
    const failures: [string[], RegExp][] = [
      [['key', 'create', '--org', '999999'], /There is no organisation 999999: see promptledger org list/],
      [['key', 'revoke', '999999'], /There is no key 999999/],
      [['prompt', 'delete', 'pmt_nothing'], /There is no prompt pmt_nothing/],
      [['org', 'set-plan', '999999', 'team'], /There is no organisation 999999/],
      [['org', 'create', ' '], /name must not be empty/],
      [['org', 'create', 'a\nb'], /name must not contain control characters/],
    ]
    for (const [args, message] of failures) {
      const { code, stdout, stderr } = await run(args)
      assert.equal(code, 1, args.join(' '))
      assert.equal(stdout, '')
      assert.match(stderr, message)
      assert.match(stderr, /^promptledger: [^\n]+\n$/)
    }
  })

  test('answers wrong usage with exit status 2', async () => {
    const wrong = [
      ['nonsense'],
      ['org', 'create'],
      ['org', 'create', 'A', '--plan', 'gold'],
      ['org', 'set-plan', 'one', 'team'],
      ['key', 'create'],
      ['key', 'create', '--org', '0'],
      ['key', 'create', '--org', '1', '--expires', 'soon'],
      ['key', 'create', '--org', '1', '--expires', '0d'],
      ['key', 'create', '--org', '1', '--role', 'owner'],
      ['history', 'record', 'pmt_x', '--action', 'deployed'],
      ['serve', '--port', '65536'],
      ['org', 'list', '--unknown'],
    ]
    for (const args of wrong) {
      const { code, stderr } = await run(args)
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, /^error: /)
    }
  })

  test('prints text for people without --json', async () => {
    const { org } = await tenant()
    assert.match((await run(['org', 'list'])).stdout, /^id +name +plan +created_at\n/)
    assert.match((await run(['key', 'list', '--org', String(org)])).stdout, /^id +name +role +hint/)
    assert.match((await run(['key', 'create', '--org', String(org)])).stdout, /^plk_\w+\nKey \d+.*not shown again/)
    assert.match((await run(['migrate'])).stdout, /^The database is at version \d+\n$/)
    assert.match((await run(['--help'])).stdout, /Usage: promptledger/)
    assert.match((await run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
  })
})

test('An import of 300,000 lines stays within constant memory', async () => {
  const { engines } = await import('../../../testing/engines.ts')
  for (const engine of engines) {
    const database = await engine.create()
    const store = await openTestStore(database.url)
    const { newOrganisation } = await import('../../src/domain/access/organisation.ts')
    const { newPrompt } = await import('../../src/domain/prompt.ts')
    const organisation = await store.organisations.create(newOrganisation('A', 'free', 1))
    const prompt = await store.prompts.create(newPrompt(organisation.id, 'a', 1), operator)
    await store.close()
    const line = `{"value":"positive","metadata":{"filler":"${'x'.repeat(100)}"},"created_at":"2026-01-01T00:00:00Z"}`
    // The heap is held far below what the lines take together: 60 MB.
    const script = `yes '${line}' | head -n 300000 | "$0" --max-old-space-size=40 "$1" import signals "$2" --json`
    const main = new URL('../../src/main.ts', import.meta.url).pathname
    const { stdout } = await promisify(execFile)('sh', ['-c', script, process.execPath, main, prompt.publicId], {
      env: { ...process.env, DATABASE_URL: database.url },
    })
    assert.deepEqual(JSON.parse(stdout), { imported: 300_000 }, engine.name)
    await database.remove()
  }
})
