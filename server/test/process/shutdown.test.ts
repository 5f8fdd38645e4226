import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { onEachEngine, sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import {
  killGroup,
  mainScript,
  type RunningProcess,
  sampleClient,
  startProcess,
  startServe,
  stopLimitMs,
} from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'

// Most of these tests wait for a deadline to pass, so they run side by side.
const options = { concurrency: true }

function openSocket(t: TestContext, { address }: RunningProcess): Socket {
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  return socket
}

/** Starts the service with metrics, which tell what it has received so far. */
function startWithMetrics(url: string): Promise<RunningProcess> {
  return startServe({ DATABASE_URL: url, METRICS_PORT: '0' }, ['--port', '0', '--json'])
}

async function metric(service: RunningProcess, sample: string): Promise<number> {
  const { metrics } = JSON.parse(service.output().stdout)
  const text = await (await fetch(metrics)).text()
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `)) ?? assert.fail(`no metric ${sample}`)
  return Number(line.slice(sample.length))
}

function hasBegunToStop(service: RunningProcess): Promise<void> {
  return eventually(() => assert.match(service.output().stderr, /"stopping"/))
}

async function stopsInTime(service: RunningProcess, exitCode: number): Promise<void> {
  const start = performance.now()
  assert.equal(await service.stop(), exitCode)
  assert.ok(performance.now() - start < stopLimitMs, 'stopping took too long')
}

onEachEngine(
  'On SIGTERM',
  (engine) => {
    test('every signal acknowledged with 201 is stored, and the process exits with 0', async () => {
      const { url } = await engine.create()
      const service = await startServe({ DATABASE_URL: url })
      const sample = sampleClient(service)
      let acknowledged = 0
      let stopped: Promise<void> | null = null
      const send = async () => {
        for (;;) {
          const response = await sample.signal().catch(() => null)
          if (response === null || response.status !== 201) return response?.status
          acknowledged++
          if (acknowledged === 100) stopped = stopsInTime(service, 0)
        }
      }
      const lastStatuses = await Promise.all(Array.from({ length: 16 }, send))
      assert.ok(stopped !== null, 'fewer than 100 signals were acknowledged')
      await stopped
      assert.deepEqual([...new Set(lastStatuses)], [undefined], 'a request got an error response')
      const [stored] = await queryRows(url, 'select count(*) as n from signals')
      const [usage] = await queryRows(url, 'select sum(used) as used from month_usage')
      assert.ok(Number(stored?.n) >= acknowledged, `${stored?.n} stored, ${acknowledged} acknowledged`)
      assert.equal(Number(usage?.used), Number(stored?.n))
      const [used] = await queryRows(url, 'select last_used_at from api_keys')
      assert.ok(Number(used?.last_used_at) > 0, 'the last use of the key was not stored')
    })
  },
  options,
)

describe('On SIGTERM', options, () => {
  test('a sign-in whose body is still arriving completes', async (t) => {
    const { url } = await sqlite.create()
    const service = await startWithMetrics(url)
    const { key } = sampleClient(service)
    const socket = openSocket(t, service)
    socket.write(
      `POST /api/v1/session HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{',
    )
    await eventually(async () => {
      assert.equal(await metric(service, 'promptledger_http_requests_in_flight{kind="write"}'), 1)
    })
    const stopped = service.stop()
    await hasBegunToStop(service)
    socket.write('}')
    const [response] = await once(socket, 'data')
    assert.match(String(response), /^HTTP\/1\.1 201 /)
    assert.equal(await stopped, 0)
  })

  test('open connections get a last response with Connection: close, and new connections are rejected', async (t) => {
    const { url } = await sqlite.create()
    const service = await startServe({ DATABASE_URL: url })
    const { key } = sampleClient(service)
    const request = `GET /api/v1/usage HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`
    const clients = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = openSocket(t, service)
        const client = { socket, received: '', closed: once(socket, 'close') }
        socket.on('data', (chunk) => {
          client.received += chunk
        })
        socket.write(request)
        await once(socket, 'data')
        return client
      }),
    )
    // A request that has arrived in part keeps its connection open. An idle connection stays open for half a second, in which a busy
    // machine may not let this process send anything: listen.test.ts has those.
    const [part, rest] = [request.slice(0, 20), request.slice(20)]
    for (const { socket } of clients) socket.write(part)
    const stopped = service.stop()
    await hasBegunToStop(service)
    for (const { socket } of clients) socket.write(rest)
    for (const client of clients) {
      await client.closed
      assert.equal(client.received.split('HTTP/1.1 200 OK').length - 1, 2)
      assert.match(client.received.slice(client.received.lastIndexOf('HTTP/1.1')), /connection: close/i)
    }
    await assert.rejects(fetch(service.address))
    assert.equal(await stopped, 0)
  })

  test('the process stops within 10 s while a client holds a half-sent request open', async (t) => {
    const { url } = await sqlite.create()
    const service = await startWithMetrics(url)
    const socket = openSocket(t, service)
    socket.write('POST /api/v1/prompts/x/signals HTTP/1.1\r\nHost: x\r\n')
    await eventually(async () => assert.equal(await metric(service, 'promptledger_http_connections'), 1))
    await stopsInTime(service, 0)
  })

  test('the process stops within 10 s while another process locks its SQLite file', async (t) => {
    const { url } = await sqlite.create()
    const service = await startWithMetrics(url)
    const sample = sampleClient(service)
    const holder = new DatabaseSync(url.slice('sqlite:'.length))
    t.after(() => holder.close())
    holder.exec('begin immediate')
    const signal = sample.signal().catch(() => null)
    await eventually(async () => {
      assert.equal(await metric(service, 'promptledger_http_requests_in_flight{kind="write"}'), 1)
    })
    await stopsInTime(service, 1)
    assert.equal(await signal, null)
  })

  test('a service that can no longer write its log, because its disk is full or its terminal is gone, serves on and stops on SIGHUP', {
    skip: !existsSync('/dev/full') && 'needs /dev/full',
  }, async () => {
    const { url } = await sqlite.create()
    const full = openSync('/dev/full', 'w')
    const env = { DATABASE_URL: url, LOG_LEVEL: 'trace' }
    const started = startProcess(mainScript, ['serve', '--port', '0'], { env, log: full })
    const service = await started.finally(() => closeSync(full))
    for (let i = 0; i < 3; i++) assert.equal((await fetch(`${service.address}/api/v1/prompts`)).status, 401)
    const stopped = once(service.process, 'exit')
    service.process.kill('SIGHUP')
    assert.deepEqual(await stopped, [0, null])
  })

  test('npm start passes the signal on, and the service ends with npm', async (t) => {
    const { url } = await sqlite.create()
    const root = fileURLToPath(new URL('../../..', import.meta.url))
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: url, PORT: '0' }
    // A group of its own, so that a failure leaves no service behind, which would keep the output of this test open.
    const npm = spawn('npm', ['start'], { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    t.after(() => killGroup(npm))
    let output = ''
    npm.stdout.on('data', (chunk) => {
      output += chunk
    })
    await eventually(() => assert.match(output, /http:\S+/), { timeoutMs: 30_000 })
    const address = /http:\S+/.exec(output)?.[0] as string
    assert.equal((await fetch(`${address}/healthz`)).status, 200)
    npm.kill('SIGTERM')
    await once(npm, 'exit')
    await assert.rejects(fetch(`${address}/healthz`))
  })
})
