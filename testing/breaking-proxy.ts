import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * When a connection breaks: before what the service sent has reached PostgreSQL; while PostgreSQL works on it, which it goes on
 * with; or after it is done and before the service hears of it.
 */
export type Moment = 'before' | 'during' | 'after'

export interface BreakingProxy {
  /** The address of the database by way of the proxy. */
  url: string
  /** Breaks the next connection on which the service sends `text`. */
  breakAt(moment: Moment, text: string): void
  /** Resolves once that has happened. */
  broken(): Promise<void>
  /** Lets nobody through and cuts off who is, until told otherwise. */
  refuse(refusing: boolean): void
  close(): void
}

/** Stands between the service and its PostgreSQL. */
export async function startBreakingProxy(databaseUrl: string): Promise<BreakingProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let next: { moment: Moment; text: string } | null = null
  let refusing = false
  let done = Promise.withResolvers<void>()

  function breakOff(near: Socket): void {
    near.destroy()
    done.resolve()
  }

  function cutAll(): void {
    for (const socket of sockets) socket.destroy()
  }

  const server = createServer((near) => {
    if (refusing) {
      near.destroy()
      return
    }
    const far = connect(Number(target.port), target.hostname)
    let breaking: Moment | null = null
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    near.on('data', (bytes) => {
      if (next !== null && bytes.includes(next.text)) {
        breaking = next.moment
        next = null
      }
      if (breaking === 'before') breakOff(near)
      else far.write(bytes)
      if (breaking === 'during') breakOff(near)
    })
    far.on('data', (bytes) => {
      if (breaking === 'after') breakOff(near)
      else if (!near.destroyed) near.write(bytes)
    })
    near.on('close', () => {
      if (breaking !== 'during') far.destroy()
    })
    far.on('close', () => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    breakAt(moment, text) {
      next = { moment, text }
      done = Promise.withResolvers()
    },
    broken: () => done.promise,
    refuse(now) {
      refusing = now
      if (refusing) cutAll()
    },
    close() {
      server.close()
      cutAll()
    },
  }
}
