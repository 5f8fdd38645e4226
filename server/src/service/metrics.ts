import { createServer } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import type { Store } from '../domain/store.ts'
import { gitRuns } from '../git/run.ts'
import type { Sources } from '../metrics/figures.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { contentType } from '../metrics/text.ts'
import { version } from '../version.ts'
import { addressOf, listening } from './listen.ts'

export interface ServedMetrics {
  address: string
  stop(): Promise<void>
}

/** Answers GET /metrics on a port of its own, which need not be open to whoever may use the service. */
export async function serveMetrics(
  { databaseUrl, metricsHost: host, metricsPort }: Config,
  metrics: Metrics,
  store: Store,
  app: FastifyInstance,
): Promise<ServedMetrics> {
  const sources: Sources = {
    store,
    version,
    engine: databaseUrl.startsWith('sqlite:') ? 'sqlite' : 'postgres',
    admission: app.admission,
    connections: countConnections(app),
    gitRuns,
  }
  const server = createServer((request, response) => {
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
