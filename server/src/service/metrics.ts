import { createServer } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import type { Store } from '../domain/store.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Sources } from '../metrics/sources.ts'
import { contentType } from '../metrics/text-format.ts'
import { version } from '../version.ts'
import { addressOf, listening } from './listen.ts'

export interface MetricsServer {
  address: string
  stop(): Promise<void>
}

/** Serves GET /metrics without authentication, on a port of its own that need not be reachable from outside. */
export async function startMetricsServer(
  { databaseUrl, metricsHost: host, metricsPort, planLimits }: Config,
  metrics: Metrics,
  store: Store,
  app: FastifyInstance,
  worker: Sources['worker'],
  judge: Sources['judge'],
  alerts: Sources['alerts'],
): Promise<MetricsServer> {
  const sources: Sources = {
    store,
    planLimits,
    version,
    engine: databaseUrl.startsWith('sqlite:') ? 'sqlite' : 'postgres',
    loadShedder: app.loadShedder,
    connections: countConnections(app),
    worker,
    judge,
    alerts,
  }
  const server = createServer((request, response) => {
    response.setHeader('X-Content-Type-Options', 'nosniff')
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    metrics.text(sources).then(
      (text) => response.writeHead(200, { 'content-type': contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await listening(server, { host, port: metricsPort ?? 0 }, 'METRICS_PORT')
  return {
    address: `${addressOf(server)}/metrics`,
    stop: () =>
      new Promise((resolve) => {
        metrics.stop()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function countConnections({ server }: FastifyInstance): () => number {
  let open = 0
  server.on('connection', (socket) => {
    open++
    socket.once('close', () => {
      open--
    })
  })
  return () => open
}
