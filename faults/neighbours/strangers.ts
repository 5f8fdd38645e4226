import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { generateSecret } from '../../server/src/domain/access/api-key.ts'
import { openSocket } from '../../testing/socket.ts'
import { secret, signedHeaders, webhookFields } from '../../testing/sources.ts'
import { type Attack, check, type Site } from './attack.ts'
import { api, connect, deliver, request } from './client.ts'

const announcedBytes = 64 * 1024
const trickleMs = 100
const reconnectMs = 500
const rampMs = 1_000
const shortMs = 1_500
const maxHealthCostMs = 250

const manners = ['silent', 'trickle', 'almost all', 'reconnect'] as const
type Manner = (typeof manners)[number]

/** The heads of requests whose bodies are read before it is known who sent them, or whose key is unknown. */
async function targetsOf(site: Site, sourceUrl: string, hook: string): Promise<Record<string, string>> {
  const { promptId } = site.attacker
  const ours = `Origin: ${site.env.PUBLIC_URL}\r\nContent-Type: application/json\r\n`
  const unknown = () => `Authorization: Bearer ${generateSecret()}\r\nContent-Type: application/json\r\n`
  return {
    webhook: `POST ${hook} HTTP/1.1\r\nContent-Type: application/json\r\n`,
    source: `POST ${sourceUrl} HTTP/1.1\r\nContent-Type: application/json\r\n`,
    votes: 'POST /api/v1/votes HTTP/1.1\r\nContent-Type: text/plain\r\n',
    'sign-in': `POST /api/v1/sign-in HTTP/1.1\r\n${ours}`,
    'sign-in by email': `POST /api/v1/sign-in/email HTTP/1.1\r\n${ours}`,
    'sign-in link': `POST /api/v1/sign-in/link HTTP/1.1\r\n${ours}`,
    session: `POST /api/v1/session HTTP/1.1\r\n${unknown()}`,
    signals: `POST /api/v1/prompts/${promptId}/signals HTTP/1.1\r\n${unknown()}`,
    telemetry: `POST /v1/traces HTTP/1.1\r\n${unknown()}`,
    agents: `POST /mcp HTTP/1.1\r\n${unknown()}`,
    'unknown path': 'POST /nowhere HTTP/1.1\r\nContent-Type: application/json\r\n',
  }
}

interface Wave {
  heads: string[]
  connections: number
  /** As a proxy reports them. */
  from: 'one network' | 'many networks'
  ms: number
}

/**
 * Announces bodies. A quarter of the clients sends one byte of it, a quarter a byte now and then, a quarter all but one, and a quarter
 * one byte before it reconnects. All reconnect when they are rejected. They come and go one after the other, as over a network.
 * Returns how many connections they opened.
 */
async function announce({ port }: { port: number }, { heads, connections, from, ms }: Wave): Promise<number> {
  let opened = 0
  const send = async (client: number) => {
    const number = from === 'one network' ? 0 : client
    const network = client % 2 === 0 ? `198.18.${number >> 8}.${number & 255}` : `2001:db8:${number}::1`
    const head =
      `${heads[client % heads.length]}Host: ledger.example\r\nX-Forwarded-For: ${network}\r\n` +
      `Content-Length: ${announcedBytes}\r\n\r\n{`
    await pause((client / connections) * rampMs)
    const end = performance.now() + ms
    while (performance.now() < end) {
      // Where the system has no more connections to give, the next may have one.
      const socket = await openSocket(port).catch(() => null)
      if (socket === null) continue
      opened++
      const manner = manners[client % manners.length] as Manner
      socket.write(manner === 'almost all' ? head + 'x'.repeat(announcedBytes - 2) : head)
      await behave(socket, manner, end)
      // Otherwise this machine would keep the port for a minute, and run out of them.
      socket.resetAndDestroy()
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, client) => send(client)))
  return opened
}

/** Until the client is rejected, or reconnects. */
async function behave(socket: Socket, manner: Manner, end: number): Promise<void> {
  const isOver = new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
  const trickle = manner === 'trickle' ? setInterval(() => socket.write('x'), trickleMs) : undefined
  const leftMs = Math.max(0, end - performance.now())
  const timer = new AbortController()
  const wait = pause(manner === 'reconnect' ? Math.min(leftMs, reconnectMs) : leftMs, null, { signal: timer.signal })
  await Promise.race([isOver, wait])
  clearInterval(trickle)
  timer.abort()
  await wait.catch(() => {})
}

/** Strangers with the URL of one source, one webhook, and the addresses that everyone knows. */
export const announcedBodies: Attack = {
  name: 'strangers: up to 4,000 bodies that are announced and never sent',
  isLoad: true,
  maxMs: 2_000,
  // A health check waits until the connections before it are accepted, 75 µs each, and their requests are put in line.
  maxHealthCostMs: 4 * maxHealthCostMs,
  async prepare(site) {
    const connected = await connect(site, site.attacker.key)
    const sourceUrl = await addSource(site)
    const targets = await targetsOf(site, sourceUrl, connected.hook)
    const together = Object.values(targets)
    const { isShort, service } = site
    return async () => {
      const results: string[] = []
      const wave = async (name: string, given: Omit<Wave, 'ms'>, ms: number) => {
        const [opened] = await Promise.all([
          announce(service, { ...given, ms }),
          checkOthers(site, connected, sourceUrl),
        ])
        results.push(`${name} ${given.connections}: ${opened}`)
      }
      if (isShort) {
        // Enough for all room for bodies, as these two were counted before.
        const heads = ['source', 'sign-in link'].map((name) => targets[name] as string)
        await wave('source and sign-in', { heads, connections: 600, from: 'many networks' }, shortMs)
        return `${results} connections; others were accepted beside them`
      }
      for (const from of ['one network', 'many networks'] as const) {
        for (const connections of [400, 2_100, 4_000]) {
          for (const [name, head] of Object.entries(targets)) {
            await wave(name, { heads: [head], connections, from }, site.seconds * 200)
          }
          await wave('together', { heads: together, connections, from }, site.seconds * 1_000)
        }
      }
      return `${results.join(', ')} connections; others were accepted beside them`
    }
  },
}

/** What has a signature is accepted from another network. */
async function checkOthers(site: Site, { hook, forge }: Awaited<ReturnType<typeof connect>>, url: string) {
  await pause(site.seconds * 100)
  check((await deliver(site, hook, forge.ping())) === 202, 'a signed delivery was not accepted')
  const status = await sendEvents(site, url, Buffer.from('{}'))
  check(status === 200, `a signed event was answered with ${status}`)
}

/** Returns the path for the events of a new source. */
async function addSource(site: Site): Promise<string> {
  const body = { name: 'Chat', adapter: 'webhook', secret, fields: webhookFields }
  const { url } = await api<{ url: string }>(site, site.attacker.key, 'POST', '/sources', body)
  return new URL(url).pathname
}

async function sendEvents(site: Site, path: string, body: Buffer, isSigned = true): Promise<number> {
  const headers = isSigned ? signedHeaders('webhook', body, Date.now()) : {}
  const response = await request(site, { method: 'POST', path, headers, body: body.toString() })
  return response.status
}

const senders = 60
const eventBytes = 1024 * 1024

/** Bodies of the longest length that a source may send. JSON.parse would make 340,000 objects of each. */
export const largeEvents: Attack = {
  name: 'strangers: 60 senders of 1 MiB of events, half of them unsigned',
  isLoad: true,
  maxMs: 2_000,
  maxMb: 300,
  maxHealthCostMs,
  async prepare(site) {
    const path = await addSource(site)
    const body = Buffer.from(`[${'{},'.repeat(eventBytes / 3 - 2)}{}]`)
    return async () => {
      const end = performance.now() + site.seconds * 1_000
      const counts = new Map<number, number>()
      const sendAll = async (_: unknown, sender: number) => {
        do {
          const status = await sendEvents(site, path, body, sender % 2 === 0).catch(() => 0)
          check([0, 401, 422, 500].includes(status), `events were answered with ${status}`)
          counts.set(status, (counts.get(status) ?? 0) + 1)
        } while (performance.now() < end)
      }
      await Promise.all(Array.from({ length: senders }, sendAll))
      return [...counts].map(([status, count]) => `${count} × ${status || 'closed'}`).join(', ')
    }
  },
}
