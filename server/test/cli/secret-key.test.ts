import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { type CliResult, runCli } from '../../../testing/cli.ts'
import { onPostgres, postgres, sqlite } from '../../../testing/engines.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'

interface Connected {
  webhook_url: string
  webhook_secret: string
}

function parsed<T>({ code, stdout, stderr }: CliResult): T {
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

/** Creates an organisation, and returns the arguments that connect a new repository to it. */
async function connectArguments(env: NodeJS.ProcessEnv): Promise<string[]> {
  const { id } = parsed<{ id: number }>(await runCli(env, ['org', 'create', 'Acme', '--json']))
  const git = new GitRepository()
  git.commit('Start', { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n' })
  git.push()
  return ['repo', 'connect', '--org', String(id), '--forge', 'github', '--url', git.remote, '--json']
}

describe('The secret key', () => {
  test('with SQLite, one key file is generated that only its owner can read', async () => {
    const database = await sqlite.create()
    const env = { DATABASE_URL: database.url }
    const file = join(dirname(database.url.slice('sqlite:'.length)), 'secret.key')
    const connect = await connectArguments(env)
    // Concurrently, because each process would otherwise encrypt with its own key.
    const paths = ['prompts/p.md', 'prompts/q.md']
    const results = await Promise.all(paths.map((path) => runCli(env, [...connect, '--path', path])))
    const connected = results.map((result) => parsed<Connected>(result))
    const key = readFileSync(file, 'utf8')
    assert.match(key, /^[0-9a-f]{64}\n$/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const keyFiles = readdirSync(dirname(file)).filter((name) => name.startsWith('secret.key'))
    assert.deepEqual(keyFiles, ['secret.key'])
    const service = await startServe(env)
    for (const { webhook_url, webhook_secret } of connected) {
      const { headers, body } = deliveriesFrom('github', webhook_secret).ping()
      const url = service.address + new URL(webhook_url).pathname
      assert.equal((await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).status, 202)
    }
    await service.stop()
    assert.equal(readFileSync(file, 'utf8'), key)
  })

  test('a key that is missing, empty or cut off is not replaced by a new one while the database has secrets', async () => {
    const database = await sqlite.create()
    const env = { DATABASE_URL: database.url }
    const file = join(dirname(database.url.slice('sqlite:'.length)), 'secret.key')
    const { id } = parsed<{ id: number }>(await runCli(env, ['org', 'create', 'Acme', '--json']))
    const create = ['key', 'create', '--org', String(id), '--role', 'signing']
    assert.equal((await runCli(env, create)).code, 0)
    const key = readFileSync(file, 'utf8')
    // 43 digits are 32 bytes as base64.
    const damages = { empty: '', 'cut off': key.slice(0, 43), missing: null }
    for (const [damage, text] of Object.entries(damages)) {
      if (text === null) rmSync(file)
      else writeFileSync(file, text)
      for (const command of [['serve', '--port', '0'], create, ['secret-key', 'rotate']]) {
        const { code, stderr } = await runCli(env, command)
        assert.equal(code, 1, `${damage}: ${command[0]}`)
        assert.ok(stderr.includes(file), stderr)
        assert.match(stderr, /^promptledger: .*Restore it from a backup[^\n]*\n$/)
      }
      assert.equal(existsSync(file), text !== null)
    }
    writeFileSync(file, key)
    assert.equal((await runCli(env, create)).code, 0)
  })
})

onPostgres('The secret key', () => {
  test('with PostgreSQL, connecting without a key fails and says how to create one', async () => {
    const database = await postgres.create()
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-data-'))
    onTestEnd(() => rm(folder, { recursive: true }))
    const env = { DATABASE_URL: database.url, DATA_DIR: folder }
    const connect = [...(await connectArguments(env)), '--path', '*']
    const { code, stdout, stderr } = await runCli(env, connect)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^promptledger: PROMPTLEDGER_SECRET_KEY [^\n]*openssl rand -hex 32[^\n]*\n$/)
    assert.ok(!existsSync(join(folder, 'secret.key')))
    assert.deepEqual(await queryRows(database.url, 'select * from repositories'), [])
    const tooShort = await runCli({ ...env, PROMPTLEDGER_SECRET_KEY: 'short' }, connect)
    assert.equal(tooShort.code, 1)
    assert.match(tooShort.stderr, /PROMPTLEDGER_SECRET_KEY must be 32 bytes/)
  })
})
