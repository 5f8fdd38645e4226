import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports that systems choose themselves, for connections and for listening on port 0 (from 32768 on Linux). One of those
// could be taken by a test beside this one before it is used, or while the service on it restarts.
const [firstPort, lastPort] = [15_000, 32_000]

/** A port that nothing listens on at this moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort))
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
