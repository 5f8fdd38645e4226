import type { Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { openSocket } from '../testing/socket.ts'
import type { PacedLoad, PacedResult } from './pace.ts'

// As short as timers allow.
const tickMs = 1

interface Due {
  text: string
  /** When its turn came: it may have to wait for a connection. */
  at: number
}

parentPort?.postMessage(await send(workerData))

/**
 * Sends at a fixed rate, however fast the service responds. A request that finds no free connection waits for one, and its latency
 * includes that, so a service that cannot keep up shows it.
 */
async function send({ port, requests, perSecond, connections, seconds }: PacedLoad): Promise<PacedResult> {
  const free = await Promise.all(Array.from({ length: connections }, () => openSocket(port)))
  const sockets = [...free]
  const total = Math.floor(perSecond * seconds)
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const waiting: Due[] = []
  const start = performance.now()
  let due = 0

  await new Promise<void>((resolve, reject) => {
    function sendNext(): void {
      while (free.length > 0 && waiting.length > 0) sendOn(free.pop() as Socket, waiting.shift() as Due)
    }
    function sendOn(socket: Socket, { text, at }: Due): void {
      socket.once('data', (chunk) => {
        latencies.push(performance.now() - at)
        const status = chunk.toString('latin1', 9, 12)
        statuses[status] = (statuses[status] ?? 0) + 1
        free.push(socket)
        if (latencies.length < total) return sendNext()
        clearInterval(timer)
        resolve()
      })
      socket.write(text, 'latin1')
    }
    for (const socket of sockets) socket.on('close', () => reject(new Error('the server closed the connection')))
    const timer = setInterval(() => {
      const now = performance.now()
      const dueBy = Math.min(total, Math.floor(((now - start) * perSecond) / 1_000))
      for (; due < dueBy; due++) waiting.push({ text: requests[due % requests.length] as string, at: now })
      sendNext()
    }, tickMs)
  })
  for (const socket of sockets) socket.removeAllListeners('close').destroy()
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
  return { sent: total, p50: at(0.5), p99: at(0.99), statuses }
}
