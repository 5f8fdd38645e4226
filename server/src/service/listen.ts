import { lookup } from 'node:dns/promises'
import { type AddressInfo, createServer, type ListenOptions, Server, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

// Node accepts one connection per listening socket and turn of the event loop, and turns are long under load. With a single
// socket, 2,000 clients that connect at once wait for minutes, and health checks wait behind them.
const socketCount = process.platform === 'linux' ? 256 : 1
const socketsPerTurn = 32
// An option of node:net that Fastify passes on although its types do not list it.
const sharedPort = { reusePort: true }
// How long idle connections stay open on shutdown. A proxy may have sent a request that is still unread, and if it is a POST,
// the proxy cannot safely retry it.
const idleGraceMs = 500
const idlePollMs = 10
const closeIdleIntervalMs = 100

/** The sockets beside that of the app. */
interface MoreSockets {
  servers: Server[]
  isClosing: boolean
  /** When all are listening, or closing stopped that. */
  added: Promise<void>
}

/** Listens on several sockets that share one port, where the platform supports it. `app.close()` closes all of them. */
export async function listen(app: FastifyInstance, host: string, port: number, log: Logger): Promise<void> {
  const more: MoreSockets = { servers: [], isClosing: false, added: Promise.resolve() }
  closeGracefully(app, more)
  // With a shared port, listening succeeds even if another process has the port. So check first that it is free.
  const free = await freePort(host, port)
  const [first = host, ...others] = await addressesOf(host)
  // An address, because Fastify gives `localhost` a second server, which none of the limits on connections apply to.
  await app.listen({ host: first, port: free, ...(socketCount > 1 && sharedPort) })
  const addresses = [first]
  for (const address of others) {
    try {
      await freePort(address, free)
      await addSockets(app, more, address, free, 1)
      addresses.push(address)
    } catch (error) {
      log.warn({ err: error }, `not listening on ${address}, which is also an address of ${host}`)
    }
  }
  // Not awaited: they take a fifth of the start, and one socket can serve the first clients.
  more.added = addRemainingSockets(app, more, addresses, free).catch((error: Error) =>
    log.warn({ err: error }, 'listening on fewer sockets: clients that connect at once may have to wait'),
  )
}

async function addressesOf(host: string): Promise<string[]> {
  const addresses = await lookup(host, { all: true })
  return [...new Set(addresses.map(({ address }) => address))]
}

async function addRemainingSockets(
  app: FastifyInstance,
  more: MoreSockets,
  addresses: string[],
  port: number,
): Promise<void> {
  for (const address of addresses) {
    for (let missing = socketCount - 1; missing > 0; missing -= socketsPerTurn) {
      // A few in each turn, so that requests are served in between.
      await nextTurn()
      if (more.isClosing) return
      await addSockets(app, more, address, port, Math.min(socketsPerTurn, missing))
    }
  }
}

async function addSockets(
  app: FastifyInstance,
  more: MoreSockets,
  host: string,
  port: number,
  count: number,
): Promise<void> {
  // The options that node:http sets on its own socket.
  const options = { allowHalfOpen: true, noDelay: true }
  const servers = Array.from({ length: count }, () =>
    createServer(options, (socket) => app.server.emit('connection', socket)),
  )
  more.servers.push(...servers)
  const target = { host, port, ...(socketCount > 1 && sharedPort) }
  await Promise.all(servers.map((server) => listening(server, target, '--port or PORT')))
}

/** Makes `app.close()` respond to every request that a client has already sent. */
function closeGracefully(app: FastifyInstance, more: MoreSockets): void {
  let closed: Promise<void>[] = []
  let closingIdle: NodeJS.Timeout | undefined
  const open = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  // From here on, every response says `Connection: close`.
  app.addHook('preClose', async () => {
    more.isClosing = true
    await more.added
    // Closing a socket drops the connections that wait to be accepted on it. Each turn accepts one per socket, so let two
    // turns pass and close right after them.
    await nextTurn()
    await nextTurn()
    closed = more.servers.map((server) => new Promise((resolve) => server.close(() => resolve())))
    // The close of node:net: the one of node:http also closes idle connections at once.
    Server.prototype.close.call(app.server)
    const deadline = performance.now() + idleGraceMs
    while (open.size > 0 && performance.now() < deadline) await pause(idlePollMs)
    // A response that was in progress when shutdown began lacks `Connection: close` and leaves an idle connection behind.
    closingIdle = setInterval(() => app.server.closeIdleConnections(), closeIdleIntervalMs)
  })
  app.addHook('onClose', async () => {
    await Promise.all(closed)
    clearInterval(closingIdle)
  })
}

async function freePort(host: string, port: number): Promise<number> {
  const server = createServer()
  await listening(server, { host, port }, '--port or PORT')
  const { port: free } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return free
}

/** Resolves when the server listens. `setting` is what the error tells the operator to change. */
export function listening(server: Server, options: ListenOptions, setting: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const { code, message } = error
      const reason = code === 'EADDRINUSE' ? `the port is in use. Choose another with ${setting}` : message
      reject(new Error(`Cannot listen on ${options.host}:${options.port}: ${reason}`, { cause: error }))
    })
    server.listen(options, resolve)
  })
}

/** The URL of a listening server, as seen from this machine. */
export function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}
