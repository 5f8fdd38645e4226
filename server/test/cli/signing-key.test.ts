import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { runCli } from '../../../testing/cli.ts'
import { onOneEngine, type TestDatabase } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type RunningProcess, startServe } from '../../../testing/processes.ts'
import { signPayload } from '../../../testing/vote-tokens.ts'

interface Created {
  id: number
  key: string
}

onOneEngine('A signing key of the CLI', (engine) => {
  let database: TestDatabase
  let service: RunningProcess
  let env: NodeJS.ProcessEnv
  before(async () => {
    database = await engine.create()
    env = { DATABASE_URL: database.url, PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex') }
    service = await startServe({ ...env, PROMPTLEDGER_FIRST_RUN: 'off' })
  })
  after(async () => {
    await service.stop()
    await database.remove()
  })

  async function json<T>(...args: string[]): Promise<T> {
    const { stdout, stderr, code } = await runCli(env, [...args, '--json'])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }

  test('signs tokens that the running service accepts, during a rotation too, until it is revoked', async () => {
    const { id: org } = await json<{ id: number }>('org', 'create', 'Acme')
    const { id: prompt } = await json<{ id: string }>('prompt', 'create', '--org', String(org), '--name', 'a.md')
    const created = await json<Created>('key', 'create', '--org', String(org), '--role', 'signing')
    assert.match(created.key, /^pls_[0-9A-Za-z]{16}_[0-9A-Za-z]{49}$/)
    const vote = async ({ key }: Created) => {
      const e = Math.floor(Date.now() / 1_000) + 60
      const token = signPayload(key, { k: key.split('_')[1], p: prompt, s: 'answer', e })
      // As navigator.sendBeacon does: text/plain, without a header of ours.
      const body = JSON.stringify({ token, value: 'positive' })
      return (await fetch(`${service.address}/api/v1/votes`, { method: 'POST', body })).status
    }
    assert.equal(await vote(created), 200)
    const rotated = await json<Created>('key', 'rotate', String(created.id))
    assert.notEqual(rotated.key, created.key)
    assert.deepEqual([await vote(created), await vote(rotated)], [200, 200])
    await json('key', 'revoke', String(created.id))
    await eventually(async () => assert.equal(await vote(created), 401), { timeoutMs: 1_000, intervalMs: 5 })
    assert.equal(await vote(rotated), 200)
  })

  test('cannot be created on PostgreSQL without a secret key, and the error says what to set', async (t) => {
    if (database.url.startsWith('sqlite:')) return t.skip('SQLite has a key file')
    const { id: org } = await json<{ id: number }>('org', 'create', 'Acme')
    const args = ['key', 'create', '--org', String(org), '--role', 'signing']
    const { code, stderr } = await runCli({ DATABASE_URL: database.url }, args)
    assert.equal(code, 1)
    assert.match(stderr, /^promptledger: role cannot be signing.+ must set PROMPTLEDGER_SECRET_KEY/)
    assert.deepEqual(await json('key', 'list', '--org', String(org)), [])
  })
})
