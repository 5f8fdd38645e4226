import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { RepositoryStore } from '../../domain/repositories/repository.ts'
import type { Worker } from '../../follow/worker.ts'
import { counter, type Family } from '../../metrics/text-format.ts'
import { addFamilies, emptyWorkerFamilies, endedWorkerFamilies } from '../../metrics/worker.ts'
import { type Channel, openChannel, workerEnded } from './channel.ts'

/** The worker in a process of its own, so that git and syncs never delay a request. */
export interface WorkerProcess extends Worker {
  /** Starts the process if it is not running. */
  call: Channel['call']
  /** The metrics of the process, and of those that have crashed. */
  families(): Promise<Family[]>
  /** Ends the process, after `stop`. */
  end(): Promise<void>
}

const discoveryIntervalMs = 1_000
const minRestartDelayMs = 1_000
const maxRestartDelayMs = 60_000
// A process that ran for this long did not crash because of how it started.
const healthyAfterMs = 60_000
// A little longer than the worker itself waits for its syncs.
const stopTimeoutMs = 6_000
const metricsTimeoutMs = 1_000

/** Starts the process with the first repository: an installation without one does not pay for its memory. */
export function createWorkerProcess(
  config: Config,
  repositories: Pick<RepositoryStore, 'hasAny'>,
  log: Logger,
): WorkerProcess {
  let channel: Channel | null = null
  let restart: NodeJS.Timeout | null = null
  let restartDelayMs = minRestartDelayMs
  let crashes = 0
  let isStopping = false
  let current = emptyWorkerFamilies()
  let ofCrashed = emptyWorkerFamilies()

  function start(): void {
    if (channel !== null || restart !== null || isStopping) return
    clearInterval(discovery)
    const startedAt = performance.now()
    channel = openChannel(config, (reason) => {
      channel = null
      if (!isStopping) restartLater(reason, performance.now() - startedAt)
    })
  }

  function restartLater(reason: string, ranForMs: number): void {
    crashes++
    ofCrashed = addFamilies(endedWorkerFamilies(current), ofCrashed)
    current = emptyWorkerFamilies()
    if (ranForMs > healthyAfterMs) restartDelayMs = minRestartDelayMs
    log.error({ reason, ranForMs, restartInMs: restartDelayMs }, 'the worker process ended unexpectedly')
    restart = setTimeout(() => {
      restart = null
      start()
    }, restartDelayMs)
    restartDelayMs = Math.min(restartDelayMs * 2, maxRestartDelayMs)
  }

  // The CLI may connect the first repository. If the database does not respond, checks must not pile up.
  let isChecking = false
  const discovery = setInterval(async () => {
    if (isChecking) return
    isChecking = true
    // If the check fails, the next one finds out.
    if (await repositories.hasAny().catch(() => false)) start()
    isChecking = false
  }, discoveryIntervalMs)

  return {
    isActive: true,
    wake(repository) {
      start()
      // While the process restarts, its poll finds the repository.
      channel?.wake(repository)
    },
    call: ((name, ...parameters) => {
      start()
      return channel === null ? Promise.reject(workerEnded) : channel.call(name, ...parameters)
    }) as Channel['call'],
    async families() {
      if (channel !== null) current = (await within(metricsTimeoutMs, channel.call('metrics'))) ?? current
      return [
        ...addFamilies(current, ofCrashed),
        counter('promptledger_worker_crashes_total', 'Unexpected ends of the worker process.', [{ value: crashes }]),
      ]
    },
    async stop() {
      isStopping = true
      clearInterval(discovery)
      if (restart !== null) clearTimeout(restart)
      if (channel !== null) await within(stopTimeoutMs, channel.call('stop'))
    },
    async end() {
      await channel?.close()
    },
  }
}

/** Null if the process has ended, or does not respond in time. */
function within<T>(milliseconds: number, response: Promise<T>): Promise<T | null> {
  return Promise.race([response.catch(() => null), pause(milliseconds, null, { ref: false })])
}
