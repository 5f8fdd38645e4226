import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { StatementSync } from 'node:sqlite'
import { before, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import pg from 'pg'
import { onEachEngine } from '../../../testing/engines.ts'
import { collectGarbage } from '../../../testing/garbage.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { Prompt } from '../../src/domain/prompt.ts'

// What a request of each operation may cost, where 32 arrive at the same time. Other than a duration, none of it depends on the load of
// the machine. A change that needs more says why in its commit message.

interface Cost {
  promises: number
  timers: number
  ticks: number
  statements: number
  /** Of the JavaScript heap. */
  bytes: number
}

const budgets: Record<'SQLite' | 'PostgreSQL', Record<'POST' | 'GET' | 'poll', Cost>> = {
  SQLite: {
    POST: { promises: 0.8, timers: 0.05, ticks: 7.1, statements: 0.33, bytes: 18_500 },
    GET: { promises: 0.5, timers: 0.05, ticks: 7.1, statements: 0.04, bytes: 19_500 },
    poll: { promises: 0.5, timers: 0.05, ticks: 7.1, statements: 0.04, bytes: 12_500 },
  },
  PostgreSQL: {
    POST: { promises: 1.7, timers: 0.2, ticks: 7.2, statements: 0.08, bytes: 20_500 },
    GET: { promises: 0.9, timers: 0.15, ticks: 7.2, statements: 0.04, bytes: 19_500 },
    poll: { promises: 0.9, timers: 0.15, ticks: 7.2, statements: 0.04, bytes: 13_000 },
  },
}

/** What a signal without metadata takes in the database, with its part of the indexes. */
const storedBytes = { SQLite: 60, PostgreSQL: 128 }

const connections = 32

/** A thread, so that what it does counts for nothing. It wakes the other one when all requests are in the buffers of the kernel. */
const client = `
const { parentPort, workerData: { port, connections, sent } } = require('node:worker_threads')
const { connect } = require('node:net')
let responses = 0
const sockets = Array.from({ length: connections }, () => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
    const end = received.indexOf('\\r\\n\\r\\n')
    if (end === -1 || received.length < end + 4 + Number(/content-length: (\\d+)/.exec(received)?.[1] ?? 0)) return
    if (!/^HTTP\\/1.1 (20[01]|304) /.test(received)) throw new Error(received)
    received = ''
    if (++responses < connections) return
    responses = 0
    parentPort.postMessage('done')
  })
  return socket
})
parentPort.on('message', (request) => {
  let left = connections
  for (const socket of sockets) {
    socket.write(request, () => {
      if (--left > 0) return
      Atomics.store(sent, 0, 1)
      Atomics.notify(sent, 0)
    })
  }
})
`

onEachEngine('What a request costs', (engine) => {
  const service = useService(engine)
  let tenant: Tenant
  before(async () => {
    service.limits = { ...service.limits, organisationConcurrency: connections }
    service.planLimits.free = null
    tenant = await service.tenant()
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    for (let i = 0; i < 25; i++) await tenant.recordEntry({ commitSha: String(1_000 + i).repeat(10) })
  })

  /** Has `connections` copies of the request arrive at once, several times, and returns what one of them costs. */
  async function costOf(request: string): Promise<Cost> {
    const sent = new Int32Array(new SharedArrayBuffer(4))
    const { port } = service.app.server.address() as AddressInfo
    const worker = new Worker(client, { eval: true, workerData: { port, connections, sent } })
    const round = async () => {
      const done = once(worker, 'message')
      worker.postMessage(request)
      Atomics.wait(sent, 0, 0)
      Atomics.store(sent, 0, 0)
      await done
    }
    const counts = { PROMISE: 0, Timeout: 0, TickObject: 0 }
    const hook = createHook({
      init(_id, type) {
        if (type in counts) counts[type as keyof typeof counts]++
      },
    })
    const statements = countStatements()
    const rounds: Cost[] = []
    try {
      // The first round goes through Fastify, and the next ones compile.
      for (let i = 0; i < 20; i++) await round()
      for (let i = 0; i < 20; i++) {
        collectGarbage('minor')
        const before = process.memoryUsage().heapUsed
        await round()
        const bytes = process.memoryUsage().heapUsed - before
        // In a round of its own, because the hook allocates.
        Object.assign(counts, { PROMISE: 0, Timeout: 0, TickObject: 0 })
        statements.count = 0
        hook.enable()
        await round()
        hook.disable()
        const { PROMISE: promises, Timeout: timers, TickObject: ticks } = counts
        rounds.push({ promises, timers, ticks, statements: statements.count, bytes })
      }
    } finally {
      hook.disable()
      statements.stop()
      await worker.terminate()
    }
    // Timers of the service, which fire more often the slower the machine is, cost something in few of the rounds.
    const median = (name: keyof Cost) =>
      rounds.map((each) => each[name] / connections).sort((a, b) => a - b)[10] as number
    return {
      promises: median('promises'),
      timers: median('timers'),
      ticks: median('ticks'),
      statements: median('statements'),
      bytes: median('bytes'),
    }
  }

  const requests = {
    poll: async () => {
      const { organisation, prompt, headers, key } = tenant
      await service.store.liveTexts.updateSettings(organisation.id, { enabled: true }, service.now, operator)
      const live = {
        promptId: prompt.id,
        entryId: 1,
        commitSha: '1'.repeat(40),
        blob: '2'.repeat(40),
        text: 'Be kind.',
      }
      await service.store.liveTexts.replace(organisation.id, [live], 2 ** 30)
      const { headers: received } = await service.app.inject({ url: '/api/v1/delivery', headers })
      const known = `If-None-Match: ${received.etag}\r\nAccept-Encoding: br\r\n`
      return `GET /api/v1/delivery HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n${known}\r\n`
    },
    POST: () => {
      const body = '{"value":"positive","metadata":{"trace":"4bf92f3577b34da6a3ce929d0e0e4736","model":"m-1"}}'
      return (
        `POST ${tenant.path}/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      )
    },
    GET: () => `GET ${tenant.path}/history HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n\r\n`,
  }

  test('a plain signal takes no more of the database than its budget, indexes included', async () => {
    const count = 30_000
    const { organisation, prompt } = await service.tenant()
    const others = await Promise.all(Array.from({ length: 9 }, (_, i) => service.prompt(organisation, `p${i}`)))
    const prompts = [prompt, ...others]
    const before = await databaseBytes(service.url)
    for (let start = 0; start < count; start += 1_000) {
      const signals = Array.from({ length: 1_000 }, (_, i) => ({
        organisationId: organisation.id,
        promptId: (prompts[i % prompts.length] as Prompt).id,
        value: 'positive' as const,
        metadata: null,
        createdAt: service.now + (start + i) * 1_000,
        limit: null,
        idempotency: null,
      }))
      await Promise.all(signals.map((signal) => service.store.signals.record(signal)))
    }
    const each = ((await databaseBytes(service.url)) - before) / count
    assert.ok(each <= storedBytes[engine.name], `${each} of ${storedBytes[engine.name]}`)
  })

  for (const operation of ['POST', 'GET', 'poll'] as const) {
    test(`${operation} stays within its budget of promises, timers, statements and bytes`, async () => {
      const cost = await costOf(await requests[operation]())
      const budget = budgets[engine.name][operation]

      for (const name of Object.keys(budget) as (keyof Cost)[]) {
        assert.ok(cost[name] <= budget[name], `${name}: ${cost[name]} of ${budget[name]}`)
      }
    })
  }
})

async function databaseBytes(url: string): Promise<number> {
  const sql = url.startsWith('sqlite:')
    ? 'select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()'
    : 'select pg_database_size(current_database()) as bytes'
  const [row] = await queryRows(url, sql)
  return Number(row?.bytes)
}

/** Counts the statements that either driver runs. */
function countStatements(): { count: number; stop(): void } {
  const counted = { count: 0, stop: () => void restore.map((each) => each()) }
  const restore = [
    ...(['run', 'get', 'all'] as const).map((name) => patch(StatementSync.prototype, name)),
    patch(pg.Client.prototype, 'query'),
  ]
  function patch(target: object, name: string): () => void {
    const methods = target as Record<string, (...args: unknown[]) => unknown>
    const original = methods[name] as (...args: unknown[]) => unknown
    methods[name] = function (this: unknown, ...args) {
      counted.count++
      return original.apply(this, args)
    }
    return () => {
      methods[name] = original
    }
  }
  return counted
}
