import { randomFillSync } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { processorSeconds } from '../../testing/processes.ts'
import { openSocket } from '../../testing/socket.ts'
import { type Attack, check, type Site } from './attack.ts'
import { createKey } from './client.ts'

const protobuf = 'application/x-protobuf'
const json = 'application/json'
const paths = ['/v1/logs', '/v1/traces']
const wrongKey = 'plk_unknown'

function head(path: string, key: string, headers: Record<string, string | number>): string {
  const lines = Object.entries({ Host: 'a', Authorization: `Bearer ${key}`, ...headers })
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

const slowConnections = 100
const announcedBytes = 4 * 1024 * 1024
const chunk = Buffer.alloc(100_000)
const chunkIntervalMs = 100

/** Bodies of 4 MB that arrive slowly, and end one byte short. Half of the senders have no valid key. */
export const slowTelemetry: Attack = {
  name: 'telemetry: 100 bodies of 4 MB that arrive slowly and never end',
  isLoad: true,
  async prepare(site) {
    const { key } = await createKey(site, { role: 'ingest' })
    return async () => {
      const end = performance.now() + Math.max(site.seconds, 2) * 1_000
      const sockets = await Promise.all(
        Array.from({ length: slowConnections }, async (_, i) => {
          const socket = (await openSocket(site.service.port)).resume()
          const headers = { 'Content-Type': protobuf, 'Content-Length': announcedBytes }
          socket.write(head(paths[i % 2] as string, i % 4 < 2 ? key : wrongKey, headers))
          return socket
        }),
      )
      for (let sent = 0; performance.now() < end; sent += chunk.length) {
        const bytes = sent < announcedBytes - chunk.length ? chunk : ''
        for (const socket of sockets) if (!socket.destroyed) socket.write(bytes)
        await pause(chunkIntervalMs)
      }
      const answered = sockets.filter(({ bytesRead }) => bytesRead > 0).length
      for (const socket of sockets) socket.destroy()
      check(answered >= slowConnections / 2, `only ${answered} were rejected`)
      return `${answered} of ${slowConnections} were rejected`
    }
  },
}

const pipelines = 20
const pipelinedBytes = 64 * 1024
const maxHealthCostMs = 250

/** Thousands of requests on each connection, whose responses are never read. Every other sender has no valid key. */
export const pipelinedTelemetry: Attack = {
  name: 'telemetry: 20 connections send 64 KB of requests each and read nothing',
  isLoad: true,
  async prepare(site) {
    const { key } = await createKey(site, { role: 'ingest' })
    const requestsOf = (path: string, by: string) => {
      const one = `${head(path, by, { 'Content-Type': json, 'Content-Length': 2 })}{}`
      return one.repeat(Math.floor(pipelinedBytes / one.length))
    }
    const written = paths.flatMap((path) => [requestsOf(path, key), requestsOf(path, wrongKey)])
    return async () => {
      const costs: number[] = []
      const end = performance.now() + site.seconds * 1_000
      do {
        const sockets = await Promise.all(
          Array.from({ length: pipelines }, async (_, i) => {
            const socket = (await openSocket(site.service.port)).pause()
            socket.write(written[i % written.length] as string)
            return socket
          }),
        )
        costs.push(await healthCost(site))
        for (const socket of sockets) socket.destroy()
      } while (performance.now() < end)
      return describeCost(costs)
    }
  },
}

const senders = 10

/** Bodies that are small as sent, and large, deep or full of tiny parts once they are read. */
export const hostileTelemetry: Attack = {
  name: 'telemetry: gzip bombs, deep values and millions of tiny records',
  isLoad: true,
  async prepare(site) {
    const { key } = await createKey(site, { role: 'ingest' })
    const bodies = hostileBodies(site)
    return async () => {
      const end = performance.now() + site.seconds * 1_000
      const statuses = new Map<number, number>()
      const costs: number[] = []
      let next = 0
      const sendAll = async () => {
        do {
          const { headers, bytes } = bodies[next++ % bodies.length] as Body
          const path = paths[next % 2] as string
          const status = await post(site, path, next % 10 === 0 ? wrongKey : key, headers, bytes).catch(() => 0)
          check([0, 200, 400, 401, 413, 503].includes(status), `a body was answered with ${status}`)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        } while (performance.now() < end)
      }
      const checkHealth = async () => {
        do {
          costs.push(await healthCost(site))
          await pause(50)
        } while (performance.now() < end)
      }
      await Promise.all([checkHealth(), ...Array.from({ length: senders }, sendAll)])
      const counts = [...statuses]
        .sort(([a], [b]) => a - b)
        .map(([status, count]) => `${count} × ${status || 'closed'}`)
      return `${counts.join(', ')}; ${describeCost(costs)}`
    }
  },
}

interface Body {
  headers: Record<string, string>
  bytes: Buffer
}

function hostileBodies({ attacker: { promptId }, isShort }: Site): Body[] {
  const full = 8 * 1024 * 1024 - 64
  const none = Buffer.alloc(0)
  const longName = field(9, Buffer.concat([field(1, Buffer.alloc(4_000, 'a')), field(2, none)]))
  const known = field(9, Buffer.concat([field(1, Buffer.from('prompt.id')), field(2, field(1, Buffer.from('x')))]))
  let deep = field(1, Buffer.from(promptId))
  for (let level = 0; level < 10_000; level++) deep = level % 2 === 0 ? field(1, deep) : field(5, deep)
  const deepAttribute = field(9, Buffer.concat([field(1, Buffer.from('prompt.id')), field(2, deep)]))
  const inSpan = (bytes: Buffer) => field(1, field(2, field(2, bytes)))
  const messages = [
    Buffer.alloc(full, field(1, none)),
    field(1, field(1, Buffer.alloc(full, field(1, none)))),
    field(1, Buffer.alloc(full, field(2, none))),
    field(1, field(2, Buffer.alloc(full, field(2, none)))),
    field(1, field(2, Buffer.alloc(full - (full % longName.length), field(2, longName)))),
    inSpan(Buffer.alloc(full - (full % known.length), known)),
    inSpan(Buffer.alloc(full, field(11, none))),
    inSpan(deepAttribute),
    // Up to 32 times what may be decompressed.
    Buffer.concat([field(1, none), Buffer.alloc((isShort ? 64 : 256) * 1024 ** 2)]),
  ]
  const texts = [
    `{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(240_000)}{}]}]}]}`,
    `{"resourceSpans":[${Array.from({ length: 200_000 }, (_, i) => `{"k${i}":0}`).join()}]}`,
    `{"resourceLogs":[${'{"v":'.repeat(120)}0${'}'.repeat(120)}]}`,
    `{"resourceLogs":${'['.repeat(2_000_000)}`,
  ]
  const compressed = (type: string, body: Buffer | string) => ({
    headers: { 'content-type': type, 'content-encoding': 'gzip' },
    bytes: gzipSync(body, { level: 1 }),
  })
  return [...messages.map((bytes) => compressed(protobuf, bytes)), ...texts.map((text) => compressed(json, text))]
}

/** A field of a protobuf message that holds bytes. */
function field(number: number, bytes: Buffer): Buffer {
  const length: number[] = []
  let left = bytes.length
  for (; left >= 0x80; left = Math.floor(left / 128)) length.push((left % 128) | 0x80)
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length, left]), bytes])
}

const spansPerSecond = 10_000
const spansPerRequest = 512
const exporters = 8

/** As many spans as the service is built for, each about a prompt. */
export const spanFlood: Attack = {
  name: 'telemetry: 10,000 spans per second',
  isLoad: true,
  // Reading and storing them takes most of a core.
  maxMs: 1_000,
  async prepare(site) {
    const { key } = await createKey(site, { role: 'ingest' })
    const nextBatch = createSpans(site.attacker.promptId)
    return async () => {
      const start = performance.now()
      const seconds = site.isShort ? 1 : 2 * site.seconds
      const intervalMs = (1_000 * exporters * spansPerRequest) / spansPerSecond
      const counts = { recorded: 0, rejected: 0 }
      // Each waits for its response, as exporters do, so a slow machine gets fewer.
      const sendAll = async (_: unknown, number: number) => {
        let at = start + (number * intervalMs) / exporters
        for (; at < start + seconds * 1_000; at += intervalMs) {
          await pause(Math.max(0, at - performance.now()))
          const status = await post(site, '/v1/traces', key, { 'content-type': protobuf }, nextBatch())
          check(status === 200 || status === 503, `spans were answered with ${status}`)
          counts[status === 200 ? 'recorded' : 'rejected'] += spansPerRequest
        }
      }
      await Promise.all(Array.from({ length: exporters }, sendAll))
      const rate = Math.round(counts.recorded / ((performance.now() - start) / 1_000))
      return `${counts.recorded} recorded, ${rate} per second, ${counts.rejected} rejected`
    }
  },
}

/** Returns a function that makes requests with new spans of 2.3 KB. */
function createSpans(promptId: string): () => Buffer {
  const time = Buffer.alloc(9)
  time[0] = (7 << 3) | 1
  time.writeBigUInt64LE(BigInt(Date.now()) * 1_000_000n, 1)
  const attribute = (name: string, value: string) =>
    field(9, Buffer.concat([field(1, Buffer.from(name)), field(2, field(1, Buffer.from(value)))]))
  const ids = Buffer.concat([field(1, Buffer.alloc(16)), field(2, Buffer.alloc(8))])
  const span = Buffer.concat([
    ids,
    time,
    attribute('gen_ai.prompt.name', promptId),
    attribute('gen_ai.response.model', 'large-2'),
    ...Array.from({ length: 18 }, (_, i) => attribute(`app.attribute.${i}`, 'x'.repeat(100))),
  ])
  const item = field(2, span)
  const spans = Buffer.alloc(item.length * spansPerRequest, item)
  return () => {
    for (let at = item.length - span.length; at < spans.length; at += item.length) {
      randomFillSync(spans, at + 2, 16)
      randomFillSync(spans, at + 20, 8)
    }
    return field(1, field(2, spans))
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 100 })
const timeoutMs = 30_000

/** Sends a request, and returns the status. */
function post(site: Site, path: string, key: string, given: Record<string, string>, body: Buffer): Promise<number> {
  const { service } = site
  const headers = { authorization: `Bearer ${key}`, ...given }
  return new Promise((resolve, reject) => {
    const options = { agent, port: service.port, host: '127.0.0.1', method: 'POST', path, headers, timeout: timeoutMs }
    const sent = httpRequest(options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', reject)
    })
    sent.on('timeout', () => sent.destroy(new Error(`no response within ${timeoutMs} ms`)))
    sent.on('error', reject)
    sent.end(body)
  })
}

/** The processor time that the service uses until it has answered a health check on a new connection, in milliseconds. */
async function healthCost({ service }: Site): Promise<number> {
  const before = processorSeconds(service)
  const response = await fetch(`${service.address}/healthz`, { headers: { connection: 'close' } })
  check(response.status === 200, `/healthz was answered with ${response.status}`)
  await response.arrayBuffer()
  return Math.round((processorSeconds(service) - before) * 1_000)
}

/** The median, because this process reads the responses meanwhile and may see that of the health check late. */
function describeCost(costs: number[]): string {
  const cost = costs.sort((a, b) => a - b)[Math.floor(costs.length / 2)] as number
  check(cost <= maxHealthCostMs, `a health check waited for ${cost} ms of processor time`)
  return `a health check takes ${cost} ms of processor time`
}
