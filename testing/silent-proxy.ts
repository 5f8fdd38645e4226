import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface SilentProxy {
  /** The address of the database by way of the proxy. */
  url: string
  /** Passes nothing on any more, in either direction, and closes nothing: as a machine that hangs. */
  fallSilent(): void
  speakAgain(): void
  close(): void
}

/** Stands between the service and its PostgreSQL. */
export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let silent = false

  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (silent) from.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    fallSilent() {
      silent = true
      for (const socket of sockets) socket.pause()
    },
    speakAgain() {
      silent = false
      for (const socket of sockets) socket.resume()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
