import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { openSocket } from '../../testing/socket.ts'
import { type Attack, check, type Site } from './attack.ts'
import { createKey, request } from './client.ts'

const connections = 100
const announcedBytes = 2_000_000
const chunk = ' '.repeat(100_000)
const chunkIntervalMs = 100

/** Batches of 2 MB that arrive slowly, and end one byte short. */
export const slowBatches: Attack = {
  name: 'batches: 100 of 2 MB that arrive slowly and never end',
  isLoad: true,
  async prepare(site) {
    const { key } = await createKey(site, { role: 'ingest' })
    return async () => {
      const end = performance.now() + Math.max(site.seconds, 2) * 1_000
      const sockets = await Promise.all(Array.from({ length: connections }, () => startBatch(site, key)))
      let sent = 0
      for (; performance.now() < end; sent += chunk.length) {
        const bytes = sent < announcedBytes - chunk.length ? chunk : ''
        for (const socket of sockets) if (!socket.destroyed) socket.write(bytes)
        await pause(chunkIntervalMs)
      }
      const rejected = sockets.filter(({ bytesRead }) => bytesRead > 0).length
      for (const socket of sockets) socket.destroy()
      return `${rejected} of ${connections} were rejected`
    }
  },
}

async function startBatch({ service }: Site, key: string): Promise<Socket> {
  const socket = (await openSocket(service.port)).resume()
  socket.on('error', () => {})
  socket.write(
    `POST /api/v1/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${announcedBytes}\r\n\r\n`,
  )
  return socket
}

const senders = 10
const signalsPerBatch = 100

/** Ordinary batches, one after the other. */
export const ordinaryBatches: Attack = {
  name: 'batches: 10 connections send 100 signals each, over and over',
  isLoad: true,
  async prepare(site) {
    const { key, promptId } = site.attacker
    const signal = { prompt_id: promptId, value: 'positive', metadata: { text: 'x'.repeat(100) } }
    const body = JSON.stringify({ signals: Array(signalsPerBatch).fill(signal) })
    return async () => {
      const end = performance.now() + site.seconds * 1_000
      const counts = { accepted: 0, rejected: 0 }
      const sendAll = async () => {
        do {
          const response = await request(site, { method: 'POST', path: '/api/v1/signals', key, body }).catch(() => null)
          const isRejected = response === null || response.headers['retry-after'] !== undefined
          check(isRejected || response.status < 300, `a batch was answered with ${response?.status}: ${response?.body}`)
          counts[isRejected ? 'rejected' : 'accepted']++
        } while (performance.now() < end)
      }
      await Promise.all(Array.from({ length: senders }, sendAll))
      return `${counts.accepted} accepted, ${counts.rejected} rejected`
    }
  },
}
