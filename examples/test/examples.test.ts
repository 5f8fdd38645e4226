import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createFolder, deliveringScenario, startTrial } from '../../client/test/delivering-service.ts'
import { useLiveService } from '../../client/test/live-service.ts'
import { sqlite } from '../../testing/engines.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import { without } from '../../testing/installed-tools.ts'
import { queryRows } from '../../testing/rows.ts'
import type { Tenant } from '../../testing/service.ts'
import { createSigningKey } from '../../testing/vote-tokens.ts'
import { addFrameworks, n8nRequest, writePage } from './frameworks.ts'
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

  describe('pages about frameworks', () => {
    const commit = 'a1b2c3d4'.repeat(5)
    before(() => addFrameworks(client.project))

    /** A tenant with this prompt, and the files and commands of the page in a folder of its own. */
    async function openPage(name: string, prompt: string) {
      service.now = Date.now()
      const tenant = await service.tenant('free', 'admin')
      await service.ledger(tenant).prompts.rename(tenant.prompt.publicId, { name: prompt })
      const folder = join(client.project, name)
      const commands = (await writePage(name, folder))
        .replace('https://ledger.example.com', service.address)
        .replace('plk_…', await service.key(tenant.organisation, 'ingest'))
        .replace('git rev-parse HEAD', `echo ${commit}`)
      await mkdir(join(folder, 'prompts'))
      await writeFile(join(folder, prompt), 'Be kind. {context} {query}\n')
      const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`
      return {
        tenant,
        runCommands: (changed = commands, env = {}) =>
          run('bash', ['-euc', changed], { cwd: folder, env: { ...process.env, PATH, NODE_NO_WARNINGS: '1', ...env } }),
        commands,
      }
    }

    const votesOf = async (tenant: Tenant) => {
      const signals: Record<string, unknown>[] = await signalsOf(tenant)
      return signals.map(({ value, version, subject, comment }) => ({ value, version, subject, comment }))
    }

    test('the page on the AI SDK records a thumb that knows nothing but its response, and the call', async () => {
      const { tenant, runCommands } = await openPage('ai-sdk', 'prompts/support-reply.md')
      assert.match((await runCommands()).stdout, /Be kind.*Where is my order\?/)
      assert.deepEqual(await votesOf(tenant), [
        { value: 'positive', version: commit, subject: 'response-1', comment: null },
      ])
      const calls = await queryRows(
        service.url,
        `select version, model, calls from exposure_hours where prompt_id = ${tenant.prompt.id}`,
      )
      assert.deepEqual(
        calls.map(({ version, model, calls }) => [version, model, Number(calls)]),
        [[commit, 'gpt-5.1-2026', 1]],
      )
    })

    test('the pages on LangChain and LlamaIndex record a vote on the run, with its version', async () => {
      for (const [name, prompt, asked] of [
        ['langchain', 'prompts/support-reply.md', /Be kind.*Where is my order\?/s],
        ['llamaindex', 'prompts/answer-from-documents.md', /Be kind. We deliver on weekdays. When do you deliver\?/],
      ] as const) {
        const { tenant, runCommands } = await openPage(name, prompt)
        assert.match((await runCommands()).stdout, asked)
        const [{ subject, ...vote } = {}, ...others] = await votesOf(tenant)
        assert.deepEqual([vote, others], [{ value: 'positive', version: commit, comment: null }, []])
        assert.match(String(subject), /^[0-9a-f-]{36}$/)
      }
    })

    test('the data layer on the page on Chainlit records, changes and withdraws votes', {
      skip: without('python3'),
    }, async () => {
      const { tenant, runCommands, commands } = await openPage('chainlit', 'prompts/support-reply.md')
      const env = {
        PYTHONPATH: [fileURLToPath(new URL('../../clients/python/src', import.meta.url)), pathOf('test/chainlit')].join(
          delimiter,
        ),
        CHAINLIT_DATABASE_URL: 'postgresql://',
      }
      const command = commands.replace('chainlit run', `python3 ${pathOf('test/chainlit/run.py')}`)
      const { stdout } = await runCommands(command, env)
      assert.deepEqual(await votesOf(tenant), [
        { value: 'negative', version: commit, subject: stdout.trim(), comment: 'Too long' },
      ])
    })

    test('the n8n workflow records each vote once, and fails if the service rejects it', async () => {
      const tenant = await namedTenant()
      const body = { prompt: promptName, value: 'positive', subject: 'answer-7c2e', version: commit, comment: 'Größe!' }
      const send = async (item: object) => {
        const { url, init } = await n8nRequest('record-vote.json', { body: item })
        const headers = { ...(init.headers as object), authorization: `Bearer ${tenant.key}` }
        return (await fetch(url.replace('https://ledger.example.com', service.address), { ...init, headers })).status
      }
      assert.deepEqual([await send(body), await send(body)], [201, 201])
      const { value, subject, version, comment } = body
      assert.deepEqual(await votesOf(tenant), [{ value, version, subject, comment }])
      assert.equal(await send({ ...body, value: 'good' }), 422)
    })
  })
})
