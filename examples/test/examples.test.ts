import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { useLiveService } from '../../client/test/ledger.ts'
import { sqlite } from '../../testing/engines.ts'
import type { Tenant } from '../../testing/service.ts'
import { makeSnippets } from '../write-snippets.ts'

const run = promisify(execFile)
// In a checkout the client is used from its source.
const condition = '--conditions=promptledger:source'

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url))
}

/** Why a test cannot run here; in CI, every tool but Go has to be there. */
function lacking(tool: string): string | false {
  const isThere = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, tool)))
  if (!isThere && process.env.CI && tool !== 'go') throw new Error(`${tool} is not installed: see .ci/run`)
  return isThere ? false : `${tool} is not installed`
}

describe('The examples', () => {
  const service = useLiveService(sqlite)

  const environment = ({ key, prompt }: Tenant) => ({
    ...process.env,
    PROMPTLEDGER_URL: service.address,
    PROMPTLEDGER_KEY: key,
    PROMPTLEDGER_PROMPT: prompt.publicId,
  })

  async function signalsOf(tenant: Tenant): Promise<{ value: string; metadata: Record<string, string> }[]> {
    return (await service.app.inject({ url: `${tenant.path}/signals`, headers: tenant.headers })).json().data
  }

  test('the chat server answers, takes a vote, and has handed it on when it ends; two clicks are one vote', async () => {
    const tenant = await service.tenant()
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-example-'))
    const server = spawn(process.execPath, [condition, '--no-warnings', pathOf('chat-server/server.ts')], {
      env: { ...environment(tenant), SPOOL: join(folder, 'votes.spool'), PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [line] = await once(server.stdout, 'data')
      const address = String(line).trim()
      const post = (path: string, body: object) =>
        fetch(address + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      assert.match(await (await fetch(address)).text(), /<title>Chat<\/title>/)
      const { trace, answer } = (await (await post('/chat', { question: 'Why?' })).json()) as Record<string, string>
      assert.equal(answer, 'You asked: Why?')
      for (let click = 0; click < 2; click++) {
        assert.equal((await post('/votes', { trace, value: 'negative' })).status, 202)
      }
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      assert.deepEqual(await ended, [0, null])
      const signals = await signalsOf(tenant)
      assert.deepEqual(
        signals.map(({ value, metadata }) => [value, metadata.trace]),
        [['negative', trace]],
      )
    } finally {
      server.kill('SIGKILL')
      await rm(folder, { recursive: true })
    }
  })

  test('the route handler records a vote once, and hides the limit from whoever voted', async () => {
    const tenant = await service.tenant()
    const script = `
      const { POST } = await import(${JSON.stringify(new URL('../next-route/route.ts', import.meta.url))})
      const request = new Request('https://shop.example/api/votes', { method: 'POST', body: process.argv[1] })
      console.log((await POST(request)).status)`
    const vote = async (trace: string) => {
      const body = JSON.stringify({ prompt: tenant.prompt.publicId, value: 'positive', trace })
      const options = [condition, '--no-warnings', '--input-type=module', '--eval', script, body]
      return Number((await run(process.execPath, options, { env: environment(tenant) })).stdout)
    }
    assert.deepEqual([await vote('t-1'), await vote('t-1')], [201, 201])
    assert.equal((await signalsOf(tenant)).length, 1)
    await tenant.fill(999)
    assert.equal(await vote('t-2'), 202)
  })

  test('the workflow step records the deployment', { skip: lacking('jq') || lacking('curl') }, async () => {
    const tenant = await service.tenant('free', 'admin')
    const workflow = await readFile(pathOf('github-actions/record-deployment.yml'), 'utf8')
    const script = /run: \|\n([\s\S]+)$/.exec(workflow)?.[1] ?? ''
    const entry = {
      NAME: 'Ada "the first" Lovelace',
      EMAIL: 'ada@example.com',
      SHA: 'c3'.repeat(20),
      BRANCH: 'main',
      AT: '2026-11-15T10:30:00+01:00',
    }
    await run('bash', ['-e', '-c', script], { env: { ...environment(tenant), ...entry } })
    const [recorded] = (await tenant.history()).json().data
    assert.deepEqual(
      [recorded.action, recorded.user.name, recorded.commit_sha, recorded.created_at],
      ['deployed', entry.NAME, entry.SHA, '2026-11-15T09:30:00.000Z'],
    )
  })

  test('the snippets are those of the OpenAPI document', async () => {
    for (const [name, text] of await makeSnippets()) {
      assert.equal(await readFile(pathOf(name), 'utf8'), text, `${name} is out of date: npm run snippets`)
    }
  })

  test('the snippets in Python record a signal and read the history', { skip: lacking('python3') }, async () => {
    const tenant = await service.tenant()
    await tenant.record()
    const python = async (name: string) =>
      JSON.parse((await run('python3', [pathOf(`python/${name}.py`)], { env: environment(tenant) })).stdout)
    assert.equal((await python('record_signal')).value, 'positive')
    assert.equal((await signalsOf(tenant)).length, 1)
    assert.equal((await python('read_history'))[0].action, 'deployed')
  })

  test('the snippets in Go record a signal and read the history', { skip: lacking('go') }, async () => {
    const tenant = await service.tenant()
    await tenant.record()
    const go = async (name: string) =>
      JSON.parse((await run('go', ['run', pathOf(`go/${name}/main.go`)], { env: environment(tenant) })).stdout).data
    assert.equal((await go('record_signal')).value, 'positive')
    assert.equal((await go('read_history'))[0].action, 'deployed')
  })
})
