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
import { useLiveService } from '../../client/test/live-service.ts'
import { createSnippets } from '../../scripts/write-snippets.ts'
import { onTestEnd } from '../../testing/cleanup.ts'
import { sqlite } from '../../testing/engines.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import type { Tenant } from '../../testing/service.ts'

const run = promisify(execFile)
// Makes the examples import the client from its source.
const condition = '--conditions=promptledger:source'
const startTimeoutMs = 30_000

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url))
}

/** The reason to skip a test that needs the tool, or false. In CI, every tool but Go must be installed. */
function skipWithout(tool: string): string | false {
  const isInstalled = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, tool)))
  if (!isInstalled && process.env.CI && tool !== 'go') throw new Error(`${tool} is not installed: see .ci/run`)
  return isInstalled ? false : `${tool} is not installed`
}

describe('Examples', () => {
  const service = useLiveService(sqlite)

  const environment = ({ key, prompt }: Tenant) => ({
    ...process.env,
    PROMPTLEDGER_URL: service.address,
    PROMPTLEDGER_KEY: key,
    PROMPTLEDGER_PROMPT: prompt.publicId,
  })

  const promptName = 'prompts/Größe & co.md'
  const byName = (tenant: Tenant) => ({ ...environment(tenant), PROMPTLEDGER_PROMPT: promptName })

  /** A tenant whose prompt has a name that needs to be encoded in URLs. */
  async function namedTenant(): Promise<Tenant> {
    const tenant = await service.tenant('free', 'admin')
    await service.ledger(tenant).prompts.rename(tenant.prompt.publicId, { name: promptName })
    await tenant.recordEntry()
    return tenant
  }

  async function signalsOf(tenant: Tenant): Promise<{ value: string; subject: string }[]> {
    return (await service.app.inject({ url: `${tenant.path}/signals`, headers: tenant.headers })).json().data
  }

  test('the chat server records one vote for each answer, and sends pending votes before it exits', async () => {
    // The server sends the real time.
    service.now = Date.now()
    const tenant = await service.tenant()
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-example-'))
    onTestEnd(() => rm(folder, { recursive: true }))
    const server = spawn(process.execPath, [condition, '--no-warnings', pathOf('chat-server/server.ts')], {
      env: { ...environment(tenant), SPOOL: join(folder, 'votes.spool'), PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestEnd(() => server.kill('SIGKILL'))
    const [line] = await once(server.stdout, 'data', { signal: AbortSignal.timeout(startTimeoutMs) })
    const address = String(line).trim()
    const page = await fetch(address)
    assert.match(await page.text(), /<title>Chat<\/title>/)
    const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? ''
    const post = (path: string, body: object) =>
      fetch(address + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie },
        body: JSON.stringify(body),
      })
    const { id, answer } = (await (await post('/chat', { question: 'Why?' })).json()) as Record<string, string>
    assert.equal(answer, 'You asked: Why?')
    for (const value of ['positive', 'negative']) {
      assert.equal((await post(`/answers/${id}/vote`, { value, comment: '' })).status, 202)
    }
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
    const signals = await signalsOf(tenant)
    assert.deepEqual(
      signals.map(({ value, subject }) => [value, subject]),
      [['negative', id]],
    )
  })

  test('the route handler records one vote for each output, and hides the monthly limit from the user', async () => {
    const tenant = await service.tenant()
    const script = `
      const { POST } = await import(${JSON.stringify(new URL('../next-route/route.ts', import.meta.url))})
      const request = new Request('https://shop.example/api/votes', { method: 'POST', body: process.argv[1] })
      console.log((await POST(request)).status)`
    const vote = async (output: string | null, value: string | null) => {
      const body = JSON.stringify({ output, version: 'a1'.repeat(20), value, comment: '' })
      const options = [condition, '--no-warnings', '--input-type=module', '--eval', script, body]
      return Number((await run(process.execPath, options, { env: environment(tenant) })).stdout)
    }
    assert.deepEqual([await vote('o-1', 'positive'), await vote('o-1', 'negative')], [204, 204])
    assert.deepEqual([await vote('o-1', 'so-so'), await vote(null, 'positive')], [422, 422])
    assert.equal((await signalsOf(tenant)).length, 1)
    await tenant.fillMonth(999)
    assert.deepEqual([await vote('o-2', 'positive'), await vote('o-2', null)], [202, 204])
  })

  test('the workflow step records the deployment with a recorder key', {
    skip: skipWithout('jq') || skipWithout('curl'),
  }, async () => {
    const tenant = await service.tenant('free', 'admin')
    const workflow = await readFile(pathOf('github-actions/record-deployment.yml'), 'utf8')
    const script = /run: \|\n([\s\S]+)$/.exec(workflow)?.[1] ?? ''
    const git = new GitRepository()
    const sha = git.commit('Start', { 'prompts/support.md': 'Be kind.\n' })
    git.push()
    const { repositories, history } = service.ledger(tenant)
    const { id } = await repositories.connect({ forge: 'github', url: git.remote, path: 'prompts/**' })
    assert.equal((await history.live('prompts/support.md')).live_source, 'merge')
    const env = {
      ...environment(tenant),
      PROMPTLEDGER_KEY: await service.key(tenant.organisation, 'recorder'),
      PROMPTLEDGER_REPOSITORY: String(id),
      SHA: sha,
    }
    await run('bash', ['-e', '-c', script], { env })
    const { entry, live_source, environment: name } = await history.live('prompts/support.md')
    assert.deepEqual([entry?.commit_sha, live_source, name], [sha, 'deployment', 'production'])
  })

  test('the Python and Go examples match the OpenAPI document', async () => {
    for (const [name, text] of await createSnippets()) {
      assert.equal(await readFile(pathOf(name), 'utf8'), text, `${name} is out of date: run npm run snippets`)
    }
  })

  test('the Python examples record a signal and read the history', { skip: skipWithout('python3') }, async () => {
    const tenant = await namedTenant()
    const python = async (name: string) =>
      JSON.parse((await run('python3', [pathOf(`python/${name}.py`)], { env: byName(tenant) })).stdout)
    assert.equal((await python('record_signal')).value, 'positive')
    assert.equal((await signalsOf(tenant)).length, 1)
    assert.equal((await python('read_history'))[0].action, 'deployed')
  })

  test('the Go examples record a signal and read the history', { skip: skipWithout('go') }, async () => {
    const tenant = await namedTenant()
    const go = async (name: string) =>
      JSON.parse((await run('go', ['run', pathOf(`go/${name}/main.go`)], { env: byName(tenant) })).stdout).data
    assert.equal((await go('record_signal')).value, 'positive')
    assert.equal((await go('read_history'))[0].action, 'deployed')
  })
})
