import { setFlagsFromString } from 'node:v8'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { startRepositoryService } from '../follow/repository-service.ts'
import { buildApp } from '../http/app.ts'
import { keyUses } from '../http/keys/last-used.ts'
import { openStore } from '../store/open.ts'
import { type FirstRun, firstRun } from './first-run.ts'
import { addressOf, listen } from './listen.ts'
import { newLog } from './log.ts'
import { type ServedMetrics, serveMetrics } from './metrics.ts'
import { startRetention } from './retention.ts'
import { openSyncContext } from './sync-context.ts'

const consoleFolder = new URL('../../../console/dist/', import.meta.url)

const flushEvery = 10_000
// Stopping takes ten seconds at most: after eight, connections are cut; what hangs even then is left.
const patience = 8_000
const lastMoment = 9_000

export interface Served {
  address: string
  metricsAddress: string | null
  firstRun: FirstRun | null
}

/** Starts the service; it runs until the process is asked to end. */
export async function serve(config: Config): Promise<Served> {
  // By itself V8 lets the heap grow to four times what is in use, which under load is memory for nothing.
  setFlagsFromString('--heap-growing-percent=100')
  const log = newLog(config.logLevel)
  const metrics = config.metricsPort === null ? null : (await import('../metrics/metrics.ts')).newMetrics()
  const store = await openStore({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    clock: Date.now,
    onLostConnection: (error) => log.warn({ err: error }, 'lost a connection to the database'),
    ...(metrics && { onBatch: metrics.signals.batch }),
  })
  const uses = keyUses(store.keys)
  const follow = await openSyncContext(config, metrics?.following.watched(store) ?? store, log).catch(async (error) => {
    await store.close()
    throw error
  })
  // Kept, since it is still told when we have begun to stop and no longer listen.
  let address: string | null = null
  const ownAddress = () => {
    address ??= addressOf(app.server)
    return address
  }
  const following = startRepositoryService(follow, () => config.publicUrl ?? ownAddress())
  const app: FastifyInstance = buildApp({
    store,
    keyUses: uses,
    repositories: following,
    consoleFolder,
    clock: Date.now,
    log,
    ...(metrics && { observer: metrics.requests }),
  })
  let first: FirstRun | null
  let served: ServedMetrics | null = null
  try {
    // Listening comes first: where the port is taken, no key may be made that nobody gets to see.
    await listen(app, config.host, config.port)
    ownAddress()
    served = metrics && (await serveMetrics(config, metrics, store, app))
    first = config.firstRun ? await firstRun(store, Date.now()) : null
  } catch (error) {
    await app.close()
    await Promise.all([served?.stop(), following.stop()])
    await store.close()
    throw error
  }

  async function flushUses(): Promise<void> {
    // Not worth more than a line in the log: the next flush will do.
    await uses.flush().catch((error) => log.warn({ err: error }, 'could not store when keys were last used'))
  }
  const flushing = setInterval(flushUses, flushEvery)
  const days = config.signalRetentionDays
  const retention = days === null ? null : startRetention(store.signals, days, Date.now, log)

  stopOnSignal(log, async () => {
    clearInterval(flushing)
    const stopped = Promise.all([following.stop(), retention?.stop()])
    setTimeout(() => app.server.closeAllConnections(), patience).unref()
    await app.close()
    await Promise.all([stopped, served?.stop()])
    await flushUses()
    await store.close()
  })
  return { address: ownAddress(), metricsAddress: served?.address ?? null, firstRun: first }
}

function stopOnSignal(log: Logger, stop: () => Promise<void>): void {
  let stopping = false
  const onSignal = async (signal: NodeJS.Signals) => {
    // A terminal and npm may both pass on the same Ctrl-C.
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.fatal('the database did not answer in time: what was under way is lost, and nobody was told it was stored')
      process.exit(1)
    }, lastMoment).unref()
    try {
      await stop()
      process.exit(0)
    } catch (error) {
      log.fatal({ err: error }, 'could not stop cleanly')
      process.exit(1)
    }
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

export function describeFirstRun(address: string, { secret, promptId }: FirstRun): string {
  const prompt = `${address}/api/v1/prompts/${promptId}`
  return `
This is the first start, so there is now an organisation on the Free plan, a sample prompt, and this admin key.
It is shown only this once:

  ${secret}

Open ${address} and sign in with it, or read the history of the sample prompt:

curl -H 'Authorization: Bearer ${secret}' ${prompt}/history

Record a signal for it:

curl -X POST -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '{"value":"positive"}' ${prompt}/signals
`
}
