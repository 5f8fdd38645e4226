import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Store } from '../domain/store.ts'
import type { RunningNotifier } from './notifier.ts'

// A shutdown takes at most ten seconds. After eight, connections that are still open are cut, which ends the requests on them.
// After nine, only a database that does not respond can still block, and the process exits without it.
const cutConnectionsAfterMs = 8_000
export const exitAfterMs = 9_000

export const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

interface Stoppable {
  stop(): Promise<void>
}

/** The parts of a running service. A part that is null is switched off or has not started yet. */
export interface Running {
  app: FastifyInstance
  syncWorker: Stoppable & { end(): Promise<void> }
  /** What else works in the background, beside the notifier. */
  background: Stoppable[]
  notifier: RunningNotifier | null
  metricsServer: Stoppable | null
  lastUsedFlusher: Stoppable
  repositories: { flush(): Promise<void> }
  store: Store
}

/** Stops the service on SIGTERM, SIGINT or, when its terminal closes, SIGHUP, and exits with 0, or with 1 if stopping fails or takes too long. */
export function stopOnSignal(running: Running, log: Logger): void {
  let stopping = false
  const onSignal = async (signal: NodeJS.Signals) => {
    // The terminal and npm may each pass on the same Ctrl-C.
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.fatal('the database did not respond in time: requests in flight are lost, none of them was acknowledged')
      process.exit(1)
    }, exitAfterMs).unref()
    try {
      await stopService(running)
      process.exit(0)
    } catch (error) {
      log.fatal({ err: error }, 'could not stop cleanly')
      process.exit(1)
    }
  }
  for (const signal of stopSignals) process.on(signal, onSignal)
}

/**
 * Background work stops while requests in flight finish (`closeGracefully` in listen.ts). Metrics are served until the last
 * response is sent, and the worker process reads from git for requests until then. Then what was only counted in memory is
 * flushed, and the database, which all of these use, closes last.
 */
export async function stopService(running: Running): Promise<void> {
  const { app, syncWorker, background, notifier, metricsServer, lastUsedFlusher, repositories, store } = running
  const backgroundStopped = Promise.all([syncWorker, ...background, notifier].map((part) => part?.stop()))
  setTimeout(() => app.server.closeAllConnections(), cutConnectionsAfterMs).unref()
  await app.close()
  await Promise.all([backgroundStopped, metricsServer?.stop()])
  await syncWorker.end()
  await lastUsedFlusher.stop()
  await repositories.flush()
  await store.close()
}
