import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Passes connections on, in turn to each port, until it is told to cut them. */
export interface Cutter {
  port: number
  /** Ends all connections at this moment, in the middle of whatever they carry. */
  cut(): void
  close(): Promise<void>
}

export async function startCutter(portsOf: () => number[]): Promise<Cutter> {
  const sockets = new Set<Socket>()
  let turn = 0
  const server = createServer((near) => {
    const ports = portsOf()
    const far = connect({ port: ports[turn++ % ports.length] as number, host: '127.0.0.1' })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  function cut(): void {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    async close() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
