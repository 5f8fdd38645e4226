import { setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../config.ts'
import { createRepositoryService } from '../../follow/repository-service.ts'
import { startWorker, type Worker } from '../../follow/worker.ts'
import { gitRuns } from '../../git/run.ts'
import { createWorkerMetrics } from '../../metrics/worker.ts'
import { openStore } from '../../store/open.ts'
import { createLogger } from '../log.ts'
import { openSyncContext } from '../sync-context.ts'
import { type Request, type Response, toPlainError, type WorkerCalls } from './messages.ts'
import { workerPoolSize } from './pool-size.ts'

const closeTimeoutMs = 500
// Between that of the service and that of git.
const priority = 5

interface Started {
  worker: Worker
  calls: WorkerCalls
  close(): Promise<void>
}

/** Runs the worker process until the service that started it closes the channel, or ends in any other way. */
export function runWorkerProcess(): void {
  if (process.send === undefined) {
    process.stderr.write("promptledger: the worker process is started by 'promptledger serve', not on its own\n")
    process.exitCode = 2
    return
  }
  let started: Promise<Started> | null = null
  // The service decides when to stop: Ctrl-C and systemd send their signals to both processes.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  process.on('disconnect', async () => {
    // Ending through process.exit also kills git, so nothing is left behind even if the service was killed.
    await Promise.race([started?.then(({ close }) => close()), pause(closeTimeoutMs)]).catch(() => {})
    process.exit(0)
  })
  process.on('message', (message: Request) => {
    if (message.type === 'start') {
      started = start(message.config)
      started.catch(fail)
    } else {
      started?.then((running) => handle(running, message)).catch(() => {})
    }
  })
}

function fail(error: Error): void {
  process.stderr.write(`promptledger: the worker process could not start: ${error.message}\n`)
  process.exit(1)
}

async function start(config: Config): Promise<Started> {
  // Requests come first. With SQLite they may wait for a transaction of this process, which a low priority would prolong.
  if (!config.databaseUrl.startsWith('sqlite:')) setPriority(priority)
  const log = createLogger(config.logLevel).child({ process: 'worker' })
  const store = await openStore({
    url: config.databaseUrl,
    poolSize: workerPoolSize(config.databasePoolSize),
    clock: Date.now,
    syncs: true,
    onLostConnection: (error) => log.warn({ err: error }, 'lost a connection to the database'),
  })
  const metrics = createWorkerMetrics(gitRuns)
  const context = await openSyncContext(config, metrics.instrument(store), log)
  const worker = startWorker(context)
  return {
    worker,
    calls: {
      ...createRepositoryService(context, worker),
      metrics: async () => metrics.families(),
      stop: worker.stop,
    },
    close: store.close,
  }
}

async function handle({ worker, calls }: Started, message: Request): Promise<void> {
  if (message.type === 'wake') message.repositories.forEach(worker.wake)
  if (message.type !== 'call') return
  const { id, name, parameters } = message
  const call = calls[name] as (...parameters: unknown[]) => Promise<unknown>
  respond(
    await call(...parameters).then(
      (value) => ({ id, value }),
      (error: Error) => ({ id, error: toPlainError(error) }),
    ),
  )
}

function respond(response: Response): void {
  // The callback receives the error if the service is gone, which would otherwise be thrown.
  process.send?.(response, undefined, undefined, () => {})
}
