import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createFolder, deliveringScenario, startTrial } from '../../client/test/delivering-service.ts'
import { useLiveService } from '../../client/test/live-service.ts'
import { sqlite } from '../../testing/engines.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import { without } from '../../testing/installed-tools.ts'
import type { Tenant } from '../../testing/service.ts'
import { createSigningKey } from '../../testing/vote-tokens.ts'
import { startExample, usePackedExamples } from './packed-examples.ts'

const run = promisify(execFile)

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url))
}

/** What the chat server sends to its page. */
interface Answer {
  answer: string
  token: string
  endpoint: string
}

describe('Examples', () => {
  const service = useLiveService(sqlite)
  const client = usePackedExamples()

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

  test('the chat server signs a token for each answer, which records the vote of its user', async () => {
    const tenant = await service.tenant()
    // The server signs with the real time.
    service.now = Date.now()
    const { secret } = await createSigningKey(service, tenant)
    const { address, stop } = await startExample(client, 'chat-server/server.ts', {
      PROMPTLEDGER_URL: service.address,
      PROMPTLEDGER_SIGNING_KEY: secret,
      PROMPTLEDGER_PROMPT: tenant.prompt.publicId,
    })
    const page = await fetch(address)
    assert.match(await page.text(), /<promptledger-thumbs comment>/)
    assert.match(await (await fetch(`${address}/thumbs.js`)).text(), /customElements\.define/)
    const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? ''
    const post = (url: string, body: object) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie },
        body: JSON.stringify(body),
      })
    const ask = async () => (await (await post(`${address}/chat`, { question: 'Why?' })).json()) as Answer
    const [first, second] = [await ask(), await ask()]
    assert.deepEqual([first.answer, first.endpoint], ['You asked: Why?', service.address])
    const vote = (token: string, value: string) => post(`${service.address}/api/v1/votes`, { token, value })
    assert.equal((await vote(first.token, 'positive')).status, 200)
    assert.equal((await vote(first.token, 'negative')).status, 200)
    assert.equal((await vote(second.token, 'positive')).status, 200)
    assert.deepEqual((await signalsOf(tenant)).map(({ value }) => value).sort(), ['negative', 'positive'])
    assert.equal(await stop(), 0)
  })

  test('the workflow step records the deployment with a recorder key', {
    skip: without('bash', 'jq', 'curl'),
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

  test('the Python route records one vote for each answer, and sends pending votes before it exits', {
    skip: without('python3'),
  }, async (t) => {
    // The route sends the real time.
    service.now = Date.now()
    const tenant = await namedTenant()
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-example-'))
    t.after(() => rm(folder, { recursive: true }))
    const client = fileURLToPath(new URL('../../clients/python/src', import.meta.url))
    const server = spawn('python3', [pathOf('python/votes.py')], {
      env: { ...byName(tenant), PYTHONPATH: client, SPOOL: join(folder, 'votes.spool'), PORT: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    t.after(() => server.kill('SIGKILL'))
    const [line] = await once(server.stdout, 'data', { signal: t.signal })
    const vote = async (path: string, body: unknown) =>
      (await fetch(`${String(line).trim()}${path}`, { method: 'POST', body: JSON.stringify(body) })).status
    assert.equal(await vote('/answers/a-1/vote', { value: 'positive' }), 202)
    assert.equal(await vote('/answers/a-1/vote', { value: 'negative', comment: 'Zu groß.' }), 202)
    assert.equal(await vote('/answers/a-2/vote', { value: 'so-so' }), 422)
    assert.equal(await vote('/answers/a-2/vote', null), 422)
    assert.equal(await vote('/other', { value: 'positive' }), 404)
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
    const signals = await signalsOf(tenant)
    assert.deepEqual(
      signals.map(({ value, subject }) => [value, subject]),
      [['negative', 'a-1']],
    )
  })

  test('the text examples print the text of the user and record a vote on its version, also without the service', {
    skip: without('python3'),
  }, async () => {
    const scenario = await deliveringScenario(service)
    const { head } = await startTrial(scenario, 1)
    const folder = await createFolder()
    const env = { ...environment(scenario.tenant), PROMPTLEDGER_PROMPT: 'prompts/p.md', XDG_CACHE_HOME: folder }
    const python = { ...env, PYTHONPATH: fileURLToPath(new URL('../../clients/python/src', import.meta.url)) }
    const examples = [
      { command: process.execPath, args: ['--conditions=promptledger:source', pathOf('text-delivery/reply.ts')], env },
      { command: 'python3', args: [pathOf('python/texts.py')], env: python },
    ]
    for (const { command, args, env } of examples) {
      const voted = await run(command, [...args, 'user-1', 'thumbs-up'], { env })
      // The first call of a busy machine may get the fallback.
      assert.match(voted.stdout, new RegExp(`${head}[^]*Be very kind|Be very kind[^]*${head}|Answer politely`))
      const { stdout } = await run(command, args, { env: { ...env, PROMPTLEDGER_URL: 'http://127.0.0.1:9' } })
      assert.match(stdout, /Answer politely\./)
    }
    const signals = await Array.fromAsync(service.ledger(scenario.tenant).signals.export('prompts/p.md'))
    assert.equal(signals.length, 2)
  })

  test('the Go examples record a signal and read the history', { skip: without('go') }, async () => {
    const tenant = await namedTenant()
    const go = async (name: string) =>
      JSON.parse((await run('go', ['run', pathOf(`go/${name}/main.go`)], { env: byName(tenant) })).stdout).data
    assert.equal((await go('record_signal')).value, 'positive')
    assert.equal((await go('read_history'))[0].action, 'deployed')
  })
})
