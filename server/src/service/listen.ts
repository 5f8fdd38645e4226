import { type AddressInfo, createServer, type ListenOptions, Server, type Socket } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

// In one turn of its event loop node takes one new connection from each listening socket, and under load a turn takes long: with
// a single socket two thousand clients that come at once wait for minutes, and so does whoever asks for our health behind them.
const sockets = process.platform === 'linux' ? 256 : 1
// An option of node:net that Fastify passes on without knowing it.
const shared = { reusePort: true }
// Milliseconds for which connections that seem idle are kept when we stop: a proxy may have sent a request that we have not read.
// If it was a POST, nobody but its sender could send it again.
const linger = 500

/** Lets the service listen, with several sockets on one port where the system can do that. They are closed with it. */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  const more: Server[] = []
  let closed: Promise<void>[] = []
  let closingIdle: NodeJS.Timeout | undefined
  const open = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  // From here on every answer says `Connection: close`.
  app.addHook('preClose', async () => {
    // Connections that wait to be taken are cut when their socket closes. Each turn of the event loop takes one of every socket,
    // and this is the moment right after.
    await turn()
    await turn()
    closed = more.map((server) => new Promise((resolve) => server.close(() => resolve())))
    // As node:net does it: node:http would close what is idle at once.
    Server.prototype.close.call(app.server)
    const end = performance.now() + linger
    while (open.size > 0 && performance.now() < end) await pause(10)
    // An answer that was on its way when we began to stop leaves a connection that nobody will use again.
    closingIdle = setInterval(() => app.server.closeIdleConnections(), 100)
  })
  app.addHook('onClose', async () => {
    await Promise.all(closed)
    clearInterval(closingIdle)
  })
  // Sockets that share a port would share it with another process too: that it is free has to be seen before.
  const free = await freePort(host, port)
  await app.listen({ host, port: free, ...(sockets > 1 && shared) })
  // With the options that node:http has for its own.
  const options = { allowHalfOpen: true, noDelay: true }
  while (more.length < sockets - 1) {
    more.push(createServer(options, (socket) => app.server.emit('connection', socket)))
  }
  await Promise.all(more.map((server) => listening(server, { host, port: free, ...shared }, '--port or PORT')))
}

async function freePort(host: string, port: number): Promise<number> {
  const server = createServer()
  await listening(server, { host, port }, '--port or PORT')
  const { port: free } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return free
}

/** `setting`: what the port is chosen with. */
export function listening(server: Server, options: ListenOptions, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const { code, message } = error
      const reason = code === 'EADDRINUSE' ? `the port is in use; choose another with ${setting}` : message
      reject(new Error(`Cannot listen on ${options.host}:${options.port}: ${reason}`, { cause: error }))
    })
    server.listen(options, resolve)
  })
}

/** Where a person on this machine reaches it. */
export function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}
