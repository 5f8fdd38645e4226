import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestEnd } from './cleanup.ts'

/**
 * When a connection breaks, seen from the statement the service sends: before PostgreSQL receives it, while PostgreSQL executes
 * it (and goes on to commit), or after it is committed but before the service hears of it.
 */
export type BreakMoment = 'before' | 'during' | 'after'

export interface TcpProxy {
  port: number
  /** The URL to connect to instead of the target's. */
  url: string
  /** Resets all connections, in the middle of anything they carry. */
  cut(): void
  /** Breaks the next connection on which the client sends `text`. Resolves once that has happened. */
  breakAt(moment: BreakMoment, text: string): Promise<void>
  /** While true, cuts all connections and accepts none. */
  refuse(refusing: boolean): void
  /** While true, passes nothing on in either direction and closes nothing, as a hung machine does. */
  stall(stalled: boolean): void
  close(): Promise<void>
}

/** Stands between a client and one server, given by its URL, or several, given by their current ports and used in turn. */
export async function startTcpProxy(target: string | (() => number[])): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let nextBreak: { moment: BreakMoment; text: string; done: () => void } | null = null
  let refusing = false
  let stalled = false
  let turn = 0

  function connectToTarget(): Socket {
    if (typeof target === 'string') return connect(Number(new URL(target).port), new URL(target).hostname)
    const ports = target()
    return connect(ports[turn++ % ports.length] as number, '127.0.0.1')
  }

  function cut(): void {
    for (const socket of sockets) socket.resetAndDestroy()
  }

  const server = createServer((near) => {
    if (refusing) {
      near.destroy()
      return
    }
    const far = connectToTarget()
    let breaking: typeof nextBreak = null
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    const breakOff = () => {
      near.destroy()
      breaking?.done()
    }
    near.on('data', (bytes) => {
      if (nextBreak !== null && bytes.includes(nextBreak.text)) {
        breaking = nextBreak
        nextBreak = null
      }
      if (breaking?.moment === 'before') breakOff()
      else far.write(bytes)
      if (breaking?.moment === 'during') breakOff()
    })
    far.on('data', (bytes) => {
      if (breaking?.moment === 'after') breakOff()
      else if (!near.destroyed) near.write(bytes)
    })
    near.on('close', () => {
      // PostgreSQL must not notice the break, or it would abort the statement.
      if (breaking?.moment !== 'during') far.destroy()
    })
    far.on('close', () => near.destroy())
    if (stalled) for (const socket of [near, far]) socket.pause()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const { port } = server.address() as AddressInfo
  const url = new URL(typeof target === 'string' ? target : 'http://127.0.0.1')
  url.port = String(port)
  const proxy: TcpProxy = {
    port,
    url: url.href,
    cut,
    breakAt(moment, text) {
      const { promise, resolve } = Promise.withResolvers<void>()
      nextBreak = { moment, text, done: resolve }
      return promise
    },
    refuse(now) {
      refusing = now
      if (refusing) cut()
    },
    stall(now) {
      stalled = now
      for (const socket of sockets) {
        if (stalled) socket.pause()
        else socket.resume()
      }
    },
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
  onTestEnd(() => proxy.close())
  return proxy
}
