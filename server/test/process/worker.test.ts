import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { type Engine, onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { type RunningProcess, sampleClient, startServe, stopLimitMs } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'

interface Service extends RunningProcess {
  url: string
  connect(remote: string): Promise<{ id: number; webhook_url: string; webhook_secret: string; entries: number }>
  metric(sample: string): Promise<number>
}

async function startService(engine: Engine): Promise<Service> {
  const { url } = await engine.create()
  const dataDir = mkdtempSync(join(tmpdir(), 'promptledger-data-'))
  onTestEnd(() => rm(dataDir, { recursive: true, force: true, maxRetries: 3 }))
  const env = {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    PROMPTLEDGER_SECRET_KEY: '0'.repeat(64),
    ALLOW: 'local-repositories',
    METRICS_PORT: '0',
  }
  const service = await startServe(env, ['--port', '0', '--json'])
  const headers = { authorization: `Bearer ${sampleClient(service).key}`, 'content-type': 'application/json' }
  return {
    ...service,
    url,
    async connect(remote) {
      const body = JSON.stringify({ forge: 'github', url: remote, path: 'prompts/**' })
      const response = await fetch(`${service.address}/api/v1/repositories`, { method: 'POST', headers, body })
      const text = await response.text()
      assert.equal(response.status, 201, text)
      return JSON.parse(text).data
    },
    async metric(sample) {
      const { metrics } = JSON.parse(service.output().stdout)
      // A sample from the database is left out if that takes more than a second.
      return eventually(async () => {
        const text = await (await fetch(metrics)).text()
        const line = text.split('\n').find((each) => each.startsWith(`${sample} `))
        return Number((line ?? assert.fail(`no metric ${sample}`)).slice(sample.length))
      })
    },
  }
}

function createRemote(): GitRepository {
  const git = new GitRepository()
  git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
  git.push()
  return git
}

/** Makes git wait until it is killed: it opens a pipe that nothing writes to. */
function hang({ remote }: GitRepository): void {
  execFileSync('mkfifo', [join(remote, 'packed-refs')])
}

/** The process of this service that runs the worker; null if there is none. */
function workerOf({ process: { pid } }: RunningProcess): number | null {
  return childrenOf(pid as number).find((child) => /\/worker\.[jt]s\b/.test(commandOf(child))) ?? null
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid)
}

function parentOf(pid: number): number | null {
  return Number(/PPid:\s+(\d+)/.exec(readOrEmpty(`/proc/${pid}/status`))?.[1] ?? Number.NaN)
}

function commandOf(pid: number): string {
  return readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function workerStarted(service: RunningProcess, other: number | null = null): Promise<number> {
  return eventually(() => {
    const worker = workerOf(service)
    return worker !== null && worker !== other ? worker : assert.fail('no new worker process')
  })
}

async function ended(pid: number): Promise<void> {
  await eventually(() => assert.ok(!existsSync(`/proc/${pid}/exe`) || commandOf(pid) === ''))
}

async function send({ address }: Service, hook: { webhook_url: string; webhook_secret: string }): Promise<number> {
  const { headers, body } = deliveriesFrom('github', hook.webhook_secret).ping()
  const path = new URL(hook.webhook_url).pathname
  return (await fetch(address + path, { method: 'POST', headers, body: new Uint8Array(body) })).status
}

async function deliveryStates({ url }: Service): Promise<unknown[]> {
  return (await queryRows(url, 'select state from deliveries order by id')).map(({ state }) => state)
}

const isLinux = process.platform === 'linux'
const options = { skip: !isLinux && 'reads /proc' }

onOneEngine(
  'The worker process',
  (engine) => {
    test('it starts with the first repository, and its syncs and git runs are in the metrics', async () => {
      const service = await startService(engine)
      assert.equal(workerOf(service), null)
      assert.equal(await service.metric('promptledger_git_runs_total'), 0)
      assert.equal(await service.metric('promptledger_worker_resident_memory_bytes'), 0)
      const { entries } = await service.connect(createRemote().remote)
      assert.equal(entries, 1)
      assert.notEqual(workerOf(service), null)
      // The metrics have the last known counts while the worker process takes more than a second to respond.
      await eventually(async () => {
        assert.ok((await service.metric('promptledger_git_runs_total')) > 0)
        assert.equal(await service.metric('promptledger_sync_duration_seconds_count{result="ok"}'), 1)
        assert.ok((await service.metric('promptledger_worker_resident_memory_bytes')) > 10_000_000)
      })
      assert.equal(await service.stop(), 0)
    })

    test('errors of the worker process reach the client with their status and message', async () => {
      const service = await startService(engine)
      const { key } = sampleClient(service)
      const response = await fetch(`${service.address}/api/v1/repositories`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ forge: 'github', url: 'ftp://forge.example/x', path: 'prompts/**' }),
      })
      assert.equal(response.status, 422)
      const { error } = (await response.json()) as { error: { message: string } }
      assert.match(error.message, /^url must be an https:\/\//)
    })

    test('webhooks and health checks are answered while the worker process is stuck', async () => {
      const service = await startService(engine)
      const hook = await service.connect(createRemote().remote)
      const worker = await workerStarted(service)
      process.kill(worker, 'SIGSTOP')
      onTestEnd(() => process.kill(worker, 'SIGCONT'))
      assert.equal(await send(service, hook), 202)
      assert.equal((await fetch(`${service.address}/healthz`)).status, 200)
      assert.deepEqual(await deliveryStates(service), ['pending'])
      // Metrics fall back to the last known counts.
      assert.equal(await service.metric('promptledger_deliveries_pending'), 1)
      process.kill(worker, 'SIGCONT')
      await eventually(async () => assert.deepEqual(await deliveryStates(service), ['ignored']))
    })

    test('a worker process that crashes is restarted, counted and logged, no counter goes down, and who waited may retry', async () => {
      const service = await startService(engine)
      const hook = await service.connect(createRemote().remote)
      const worker = await workerStarted(service)
      const runs = await service.metric('promptledger_git_runs_total')
      process.kill(worker, 'SIGSTOP')
      const { key } = sampleClient(service)
      const waiting = fetch(`${service.address}/api/v1/repositories`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ forge: 'github', url: createRemote().remote, path: 'prompts/**' }),
      })
      // Sent after it, so that it has arrived.
      await fetch(`${service.address}/healthz`)
      process.kill(worker, 'SIGKILL')
      const response = await waiting
      assert.deepEqual([response.status, response.headers.get('retry-after')], [500, '2'])
      assert.match(((await response.json()) as { error: { message: string } }).error.message, /git restarts\. Retry/)
      await ended(worker)
      assert.equal(await send(service, hook), 202)
      await workerStarted(service, worker)
      await eventually(async () => assert.deepEqual(await deliveryStates(service), ['ignored']))
      assert.equal(await service.metric('promptledger_worker_crashes_total'), 1)
      assert.ok((await service.metric('promptledger_git_runs_total')) >= runs)
      assert.match(service.output().stderr, /"reason":"SIGKILL".*the worker process ended unexpectedly/)
      assert.equal(await service.stop(), 0)
    })

    test('the worker process and its git end when the service is killed', async () => {
      const service = await startService(engine)
      const git = createRemote()
      const { id } = await service.connect(git.remote)
      const worker = await workerStarted(service)
      hang(git)
      await queryRows(service.url, `update repositories set due_at = 0 where id = ${id}`)
      const [running] = await eventually(() => {
        const children = childrenOf(worker)
        return children.length > 0 ? children : assert.fail('git has not started')
      })
      await service.kill()
      await ended(worker)
      await ended(running as number)
    })

    test('the service stops within 10 s and exits with 0 while a sync hangs, and leaves no process behind', async () => {
      const service = await startService(engine)
      const git = createRemote()
      const { id } = await service.connect(git.remote)
      const worker = await workerStarted(service)
      hang(git)
      await queryRows(service.url, `update repositories set due_at = 0 where id = ${id}`)
      await eventually(() => assert.notEqual(childrenOf(worker).length, 0))
      const start = performance.now()
      assert.equal(await service.stop(), 0)
      assert.ok(performance.now() - start < stopLimitMs, 'stopping took too long')
      await ended(worker)
    })

    test('Ctrl-C, which reaches both processes, stops the service once and cleanly', async () => {
      const service = await startService(engine)
      await service.connect(createRemote().remote)
      const worker = await workerStarted(service)
      process.kill(worker, 'SIGINT')
      assert.equal(await service.stop('SIGINT'), 0)
      await ended(worker)
      assert.doesNotMatch(service.output().stderr, /ended unexpectedly/)
    })
  },
  options,
)
