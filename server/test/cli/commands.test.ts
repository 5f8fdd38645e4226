import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runCli, runCliJson } from '../../../testing/cli.ts'
import { onOneEngine, type TestDatabase } from '../../../testing/engines.ts'
import { type RunningProcess, startServe } from '../../../testing/processes.ts'
import { queryRows, usageOf } from '../../../testing/rows.ts'

interface Entry {
  id: number
  action: string
  created_at: string
}

const sha = 'ab'.repeat(20)

onOneEngine('The CLI beside a running service', (engine) => {
  let database: TestDatabase
  let service: RunningProcess
  before(async () => {
    database = await engine.create()
    service = await startServe({ DATABASE_URL: database.url, PROMPTLEDGER_FIRST_RUN: 'off' })
  })
  after(async () => {
    await service.stop()
    await database.remove()
  })

  const run = (args: string[], input?: string | Buffer) => runCli({ DATABASE_URL: database.url }, args, input)
  const json = <T>(args: string[], input?: string | Buffer) => runCliJson<T>(database.url, args, input)

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

  test('organisations are created, listed and moved to another plan', async () => {
    const created = await json<{ id: number }>(['org', 'create', 'Größe & Söhne', '--plan', 'team'])
    assert.deepEqual(Object.keys(created), ['id', 'name', 'plan', 'created_at'])
    assert.partialDeepStrictEqual(created, { name: 'Größe & Söhne', plan: 'team' })
    const changed = await json(['org', 'set-plan', String(created.id), 'business'])
    assert.deepEqual(changed, { ...created, plan: 'business' })
    const all = await json<object[]>(['org', 'list'])
    assert.deepEqual(all.at(-1), changed)
  })

  test('a created key has the documented shape and fields, and only its hash is stored', async () => {
    const { org } = await tenant()
    const args = ['key', 'create', '--org', String(org), '--name', 'ci', '--role', 'ingest', '--expires', '90d']
    const key = await json<Record<string, string>>(args)
    assert.deepEqual(Object.keys(key), [
      'id',
      'key',
      'organisation_id',
      'person_id',
      'name',
      'role',
      'prompts',
      'created_at',
      'expires_at',
    ])
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

  test('a revoked key is rejected on the next request', async () => {
    const { key, history } = await tenant()
    assert.equal((await history()).status, 200)
    await json(['key', 'revoke', String(key.id)])
    assert.equal((await history()).status, 401)
  })

  test('a rotated key works until its overlap ends, next to its replacement', async () => {
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
    assert.match(again.stderr, /^promptledger: Key \d+ is revoked or expired\. Create a new key/)
  })

  test('segments are declared for an organisation and for a prompt', async () => {
    const { org, prompt } = await tenant()
    const ofOrganisation = ['--org', String(org)]
    assert.deepEqual(await json(['segments', 'get', ...ofOrganisation]), { keys: [] })
    assert.deepEqual(await json(['segments', 'set', ...ofOrganisation, 'model', 'locale']), {
      keys: ['model', 'locale'],
    })
    assert.deepEqual(await json(['segments', 'get', ...ofOrganisation]), { keys: ['model', 'locale'] })
    const own = await json(['segments', 'set-prompt', prompt, 'app'])
    assert.deepEqual(own, { keys: ['app'], source: 'prompt' })
    const inherited = await json(['segments', 'set-prompt', prompt, '--inherit'])
    assert.deepEqual(inherited, { keys: ['model', 'locale'], source: 'organisation' })
    const invalid = await run(['segments', 'set', ...ofOrganisation, 'a', 'a'])
    assert.deepEqual([invalid.code, invalid.stderr.trim()], [1, 'promptledger: keys.1 must not repeat an earlier key'])
  })

  test('a changed plan applies to the next request', async () => {
    const { org, prompt, signal } = await tenant('team')
    const line = JSON.stringify({ value: 'positive', created_at: new Date().toISOString() })
    assert.deepEqual(await json(['import', 'signals', prompt], `${line}\n`.repeat(1_000)), {
      imported: 1_000,
      replaced: 0,
    })
    assert.equal((await signal()).status, 201)
    await json(['org', 'set-plan', String(org), 'free'])
    const rejected = await signal()
    assert.equal(rejected.status, 429)
    assert.partialDeepStrictEqual(await rejected.json(), { error: { limit: 1_000, used: 1_001 } })
  })

  test('a deleted prompt is not found on the next request, and its signals still count', async () => {
    const { org, prompt, history, signal } = await tenant()
    assert.equal((await signal()).status, 201)
    await json(['prompt', 'delete', prompt])
    assert.equal((await history()).status, 404)
    assert.equal((await signal()).status, 404)
    assert.deepEqual(await json(['prompt', 'list', '--org', String(org)]), [])
    assert.equal((await run(['prompt', 'delete', prompt])).code, 1)
    assert.deepEqual((await usageOf(database.url, org))[0]?.used, 1)
  })

  test('recorded history is visible at once', async () => {
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
})
