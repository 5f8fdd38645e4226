import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../testing/eventually.ts'
import { memoryOf } from '../../testing/processes.ts'
import { openSocket } from '../../testing/socket.ts'
import { type Attack, check, type Site } from './attack.ts'
import { connect, createKey, createRemote, historyOf, request } from './client.ts'
import { createPromptWithSignals } from './signals.ts'

const giveBackMs = 10_000
const maxResidentMb = 300
const requestsPerConnection = 300
const metadata = `{"text":"${'x'.repeat(16_000)}"}`

/** One key asks for hundreds of megabytes at once and reads nothing of it. */
export const unreadPages: Attack = {
  name: 'unread: 90 connections send 300 requests for 1.6 MB each and read nothing',
  isLoad: true,
  async prepare(site) {
    const promptId = await createPromptWithSignals(site, 100, metadata)
    const { key } = await createKey(site, { role: 'reader' })
    const head = requestHead(`/api/v1/prompts/${promptId}/signals?limit=100`, key)
    return async () => {
      const sockets = await Promise.all(Array.from({ length: 90 }, () => startIgnoring(site, head)))
      await pause(site.seconds * 1_000)
      for (const socket of sockets) socket.destroy()
      const resident = await residentAfterwards(site)
      return `${resident} MB are resident after the clients have disconnected`
    }
  },
}

const unreadTexts = 120
const loopingReaders = 80
const moderateIntervalMs = 200
const moderateReads = 5

/** Clients that read nothing, clients that read in a loop, and one of the same organisation that reads now and then. */
export const unreadEntries: Attack = {
  name: 'unread: 120 unread and 80 looping reads of 1 MB texts beside a moderate reader',
  isLoad: true,
  async prepare(site) {
    const git = createRemote(site)
    const commits = site.isShort ? 4 : 12
    for (let i = 0; i < commits; i++) git.commit(`Change ${i}`, { 'prompts/p.md': `${i} ${'text '.repeat(200_000)}\n` })
    git.push()
    const connected = await connect(site, site.attacker.key, git)
    const entries = await historyOf(site, connected)
    const paths = entries.map(({ id }) => `/api/v1/prompts/${connected.promptId}/history/${id}`)
    const [flooder, moderate] = await Promise.all([
      createKey(site, { role: 'reader' }),
      createKey(site, { role: 'reader' }),
    ])
    return async () => {
      const end = performance.now() + site.seconds * 1_000
      const sockets = await Promise.all(
        Array.from({ length: unreadTexts }, (_, i) =>
          startIgnoring(site, requestHead(paths[i % paths.length] as string, flooder.key)),
        ),
      )
      let isOver = false
      const loops = Array.from({ length: loopingReaders }, (_, i) =>
        readUntil(() => isOver, site, flooder.key, paths, i, 0),
      )
      // Counted, because a busy machine may serve none in a second.
      const hasRead = ({ served, rejected }: Reads) => performance.now() >= end && served + rejected >= moderateReads
      const ofModerate = await readUntil(hasRead, site, moderate.key, paths, 0, moderateIntervalMs)
      isOver = true
      await Promise.all(loops)
      for (const socket of sockets) socket.destroy()
      check(ofModerate.served > 0, 'the moderate reader was never served')
      check(
        ofModerate.rejected <= ofModerate.served / (site.isShort ? 1 : 10),
        `the moderate reader was served ${ofModerate.served} times and rejected ${ofModerate.rejected} times`,
      )
      return `the moderate reader was served ${ofModerate.served} times and rejected ${ofModerate.rejected} times`
    }
  },
}

interface Reads {
  served: number
  rejected: number
}

async function readUntil(
  isOver: (reads: Reads) => boolean,
  site: Site,
  key: string,
  paths: string[],
  first: number,
  intervalMs: number,
): Promise<Reads> {
  const reads = { served: 0, rejected: 0 }
  for (let next = first; !isOver(reads); next++) {
    const path = paths[next % paths.length] as string
    const response = await request(site, { path, key }).catch(() => null)
    if (response?.status === 200) reads.served++
    else reads.rejected++
    const isExplained = response === null || response.status === 200 || response.headers['retry-after'] !== undefined
    check(isExplained, `a read was answered with ${response?.status} and no Retry-After`)
    await pause(intervalMs)
  }
  return reads
}

function requestHead(path: string, key: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`
}

/** Sends the request many times and reads no response. */
async function startIgnoring({ service }: Site, head: string): Promise<Socket> {
  const socket = await openSocket(service.port)
  socket.pause()
  socket.write(head.repeat(requestsPerConnection))
  return socket
}

/** The memory of the service once it has given back what the clients made it hold. */
async function residentAfterwards({ service, isShort }: Site): Promise<number> {
  const measure = () => {
    const resident = Math.round(memoryOf(service).resident)
    check(resident <= maxResidentMb, `${resident} MB are resident after the clients have disconnected`)
    return resident
  }
  if (isShort) return eventually(measure)
  await pause(giveBackMs)
  return measure()
}
