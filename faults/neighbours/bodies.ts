import { once } from 'node:events'
import { openSocket } from '../../testing/socket.ts'
import { type Attack, check } from './attack.ts'

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
