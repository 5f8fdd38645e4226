import { once } from 'node:events'
import { processorSeconds } from '../../testing/processes.ts'
import { openSocket } from '../../testing/socket.ts'
import { type Attack, check } from './attack.ts'
import { request } from './client.ts'

const bodyBytes = 3_000_000
const chunk = 'x'.repeat(64 * 1024)

/** A body over the limit, from a client that reads only when it has sent everything. */
export const largeBody: Attack = {
  name: 'bodies: 3 MB, sent before the response is read',
  isLoad: false,
  async prepare({ service, attacker }) {
    return async () => {
      const socket = await openSocket(service.port)
      socket.pause()
      socket.write(
        `POST /api/v1/prompts/${attacker.promptId}/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${attacker.key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${bodyBytes}\r\n\r\n`,
      )
      for (let left = bodyBytes; left > 0; left -= chunk.length) {
        await new Promise((resolve) => socket.write(chunk.slice(0, left), resolve))
      }
      socket.resume()
      const [response] = await once(socket, 'data', { signal: AbortSignal.timeout(60_000) })
      socket.destroy()
      check(String(response).startsWith('HTTP/1.1 422 '), `the client read ${String(response).slice(0, 40)}`)
      return 'the client reads its 422'
    }
  },
}

const batches = 10
// 30 ms, and what the requests of the neighbour take in the meantime.
const maxBatchSeconds = 0.06

/** Batches of little but brackets, which JSON.parse takes long for. */
export const bracketBodies: Attack = {
  name: 'bodies: batches of 2 MB of brackets',
  isLoad: false,
  async prepare(site) {
    const { key } = site.attacker
    const nested = `${'['.repeat(100)}${']'.repeat(100)},`
    const bodies = ['['.repeat(2_000_000), `{"signals":[${nested.repeat(10_000)}1]}`]
    return async () => {
      const costs: number[] = []
      for (const body of bodies) {
        const before = processorSeconds(site.service)
        for (let i = 0; i < batches; i++) {
          const { status } = await request(site, { method: 'POST', path: '/api/v1/signals', key, body })
          check(status === 422, `a batch was answered with ${status}`)
        }
        costs.push((processorSeconds(site.service) - before) / batches)
      }
      const highest = Math.max(...costs)
      check(highest <= maxBatchSeconds, `rejecting a batch took ${highest} s of processor time`)
      return `rejecting one takes up to ${Math.round(highest * 1_000)} ms of processor time`
    }
  },
}
