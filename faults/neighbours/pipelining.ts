import { Agent } from 'node:http'
import type { Socket } from 'node:net'
import { processorSeconds } from '../../testing/processes.ts'
import { openSocket } from '../../testing/socket.ts'
import { send } from '../http.ts'
import { type Attack, check, type Site } from './attack.ts'

const connections = 20
const writeBytes = 64 * 1024
const maxHealthCostMs = 250

/** Connections without a key that send thousands of requests before they read a response. */
export const pipelinedRequests: Attack = {
  name: 'pipelining: 20 strangers send 64 KB of requests each, and again',
  isLoad: true,
  async prepare(site) {
    const { promptId } = site.attacker
    const starts = [
      'GET /openapi.json',
      'GET /docs',
      'GET /healthz',
      'HEAD /docs',
      'GET /assets/unknown.js',
      `GET /api/v1/prompts/${promptId}/history`,
      'POST /api/v1/votes',
      'POST /mcp',
    ]
    const agent = new Agent()
    await Promise.all(starts.map((start) => send(agent, site.service.port, { path: start.split(' ')[1] as string })))
    return async () => {
      const costs: number[] = []
      const end = performance.now() + site.seconds * 1_000
      let rounds = 0
      do {
        const head = `${starts[rounds++ % starts.length]} HTTP/1.1\r\n\r\n`
        const bytes = head.repeat(writeBytes / head.length)
        const sockets = await Promise.all(Array.from({ length: connections }, () => startReading(site, bytes)))
        costs.push(await healthCost(site))
        // Those who disconnect must leave no work behind.
        for (const socket of sockets) socket.destroy()
        costs.push(await healthCost(site))
      } while (performance.now() < end)
      // The median, because this process reads the responses meanwhile and may see that of the health check late.
      const cost = Math.round((costs.sort((a, b) => a - b)[Math.floor(costs.length / 2)] as number) * 1_000)
      check(cost <= maxHealthCostMs, `a health check waited for ${cost} ms of processor time`)
      return `${rounds} rounds, a health check takes ${cost} ms of processor time`
    }
  },
}

/** Sends bytes and reads all responses. */
async function startReading({ service }: Site, bytes: string): Promise<Socket> {
  const socket = (await openSocket(service.port)).resume()
  await new Promise((resolve) => socket.write(bytes, resolve))
  return socket
}

/** The processor time that the service uses until it has answered a health check on a new connection. */
async function healthCost({ service }: Site): Promise<number> {
  const before = processorSeconds(service)
  const { status } = await send(new Agent(), service.port, { path: '/healthz' })
  check(status === 200, `/healthz was answered with ${status}`)
  return processorSeconds(service) - before
}
