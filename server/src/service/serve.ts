import { setFlagsFromString } from 'node:v8'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { createLearnedDrift } from '../domain/impact/model/learned-drift.ts'
import type { RepositoryService } from '../domain/repositories/repository-service.ts'
import { createVoters } from '../domain/signals/voter.ts'
import { consoleFolder } from '../files.ts'
import { createRepositoryService } from '../follow/repository-service.ts'
import { buildApp } from '../http/app.ts'
import type { DemoApplication } from '../http/demo/routes.ts'
import { createLastUsedTracker, type LastUsedTracker } from '../http/keys/last-used.ts'
import { openStore } from '../store/open.ts'
import { openAlertService, openForgeActions, openSending, openSendMail } from './alerts.ts'
import { startBriefings } from './briefings.ts'
import { type FirstRun, firstRun } from './first-run.ts'
import { limitYoungGeneration, returnGarbage } from './heap.ts'
import { withIssues } from './issues.ts'
import { createJudge, type JudgeContext, startJudge, withJudge } from './judge.ts'
import { addressOf, listen } from './listen.ts'
import { startLiveTexts } from './live-texts.ts'
import { createLogger } from './log.ts'
import { startLoop } from './loop.ts'
import { type MetricsServer, startMetricsServer } from './metrics.ts'
import { startNotifier } from './notifier.ts'
import { withProposals } from './proposals.ts'
import { startRetention, startTelemetryRetention } from './retention.ts'
import { requireDatabaseOfKey } from './secret-key.ts'
import { type Running, stopOnSignal, stopService } from './shutdown.ts'
import { startSourcePoller } from './source-poller.ts'
import { openSyncContext } from './sync-context.ts'
import { startTrialJudge } from './trials.ts'
import { type GitCalls, gitCalls } from './worker/messages.ts'
import { createWorkerProcess, type WorkerProcess } from './worker/process.ts'

const flushIntervalMs = 10_000
const megabyte = 1024 * 1024
// As `--max-semi-space-size=8`. Without a limit, the service has 161 MB instead of 123 MB after 50,000 signals on PostgreSQL.
const maxYoungBytes = 16 * megabyte
// The service has 120 to 160 MB without a burst. A collection takes 100 to 150 ms of processor time.
const garbage = { keptBytes: 192 * megabyte, burstBytes: 32 * megabyte, intervalMs: 4_000 }

export interface Served {
  address: string
  metricsAddress: string | null
  firstRun: FirstRun | null
}

/** Starts the service. It runs until the process receives a signal to stop: see shutdown.ts. */
export async function serve(config: Config, demo?: DemoApplication): Promise<Served> {
  const log = createLogger(config.logLevel)
  for (const message of [...config.replaced, ...config.mistyped]) log.warn(message)
  for (const { setting, message } of config.signIn.problems)
    log.warn({ setting }, `a setting of sign-in is wrong: ${message}`)
  requireDatabaseOfKey(config)
  const metrics = config.metricsPort === null ? null : (await import('../metrics/metrics.ts')).createMetrics()
  const store = await openStore({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    clock: Date.now,
    serves: true,
    onLostConnection: (error) => log.warn({ err: error }, 'lost a connection to the database'),
    ...(metrics && { onBatch: metrics.signals.batch }),
  })
  const lastUsed = createLastUsedTracker(store.keys)
  const syncContext = await openSyncContext(config, store, log).catch(async (error) => {
    await store.close()
    throw error
  })
  // Cached, because it is still needed during shutdown, when the server no longer listens.
  let address: string | null = null
  const ownAddress = () => {
    address ??= addressOf(app.server)
    return address
  }
  const syncWorker = createWorkerProcess(config, store.repositories, log)
  const repositories = withWorkerProcess(createRepositoryService(syncContext, syncWorker), syncWorker)
  const judging: JudgeContext = { store, clock: Date.now, log }
  const judge = createJudge(judging)
  const publicUrl = () => config.publicUrl ?? ownAddress()
  const { vault } = syncContext
  const voters = createVoters(store.organisations, vault)
  const alerting = { store, vault, publicUrl, log }
  const alerts = openAlertService(config, { ...alerting, wake: () => running.notifier?.wake() })
  const { propose, ...forges } = openForgeActions(config, { ...alerting, repositories })
  const app: FastifyInstance = buildApp({
    store: withJudge(store, judge),
    propose,
    lastUsed,
    repositories,
    alerts,
    voters,
    vault,
    learned: createLearnedDrift(store.drift, Date.now),
    publicUrl,
    consoleFolder,
    clock: Date.now,
    log,
    limits: config.requestLimits,
    planLimits: config.planLimits,
    trustedProxies: config.trustedProxies,
    organisationLimits: {
      repositories: config.repositoriesPerOrganisation,
      signalRetentionDays: config.signalRetentionDays,
      telemetryDays: config.telemetryDays,
    },
    signIn: {
      rules: config.signIn,
      provider: config.signIn.provider,
      allowsEmail: config.signIn.allowsEmail,
      sendMail: openSendMail(config),
      problems: config.signIn.problems,
    },
    ...(metrics && { observer: metrics.requests }),
    ...(demo && { demo }),
  })
  const running: Running = {
    app,
    syncWorker,
    background: [],
    notifier: null,
    metricsServer: null,
    lastUsedFlusher: startFlushing(lastUsed, log),
    repositories,
    store,
  }
  let metricsServer: MetricsServer | null = null
  let first: FirstRun | null
  try {
    // Listen before the first run: if the port is in use, no key must be created that is never shown.
    await listen(app, config.host, config.port, log)
    ownAddress()
    metricsServer =
      metrics && (await startMetricsServer(config, metrics, store, app, syncWorker, judge, () => running.notifier))
    running.metricsServer = metricsServer
    first = config.firstRun ? await firstRun(store, Date.now()) : null
  } catch (error) {
    await stopService(running)
    throw error
  }
  const { signalRetentionDays: days } = config
  const { reportIssue, hasWriteAccess } = forges
  const reportOnPull = withIssues(withProposals(forges.reportOnPull, { store, propose, log }), { store, reportIssue })
  const { background } = running
  if (days !== null) background.push(startRetention(store.signals, days, Date.now, log))
  background.push(
    startTelemetryRetention(store.telemetry, config.telemetryDays, Date.now, log),
    startJudge(judge, judging),
    startLiveTexts({ ...judging, repositories }),
    startTrialJudge({ ...judging, repositories, reportOnPull, hasWriteAccess }),
    startBriefings({ ...judging, repositories, reportOnPull }),
    startSourcePoller({
      ...judging,
      vault,
      voters,
      planLimits: config.planLimits,
      // As for the targets of alerts, which admins choose too.
      network: { allowPrivate: config.allowPrivateAlertTargets, allowHttp: config.allowPrivateAlertTargets },
    }),
  )
  running.notifier = startNotifier({
    ...alerting,
    ...openSending(config, alerting),
    reportOnPull,
    planLimits: config.planLimits,
    clock: Date.now,
  })
  stopOnSignal(running, log)
  setImmediate(limitMemory)
  return { address: ownAddress(), metricsAddress: metricsServer?.address ?? null, firstRun: first }
}

/** Once clients can connect, and after the code is kept: V8 rejects code that was kept with other flags than the next start has. */
function limitMemory(): void {
  keepCode()
  // By default, V8 lets the heap grow to four times the live data, which wastes memory under load.
  setFlagsFromString('--heap-growing-percent=100')
  limitYoungGeneration(maxYoungBytes)
  returnGarbage(garbage)
}

/** Keeps the functions that this start has compiled for the next one, if the package was started without them: packaging/code-cache.js. */
function keepCode(): void {
  const keep = (globalThis as { [key: symbol]: (() => void) | undefined })[Symbol.for('promptledger.keepCode')]
  keep?.()
}

/** Everything that runs git happens in the worker process. */
function withWorkerProcess(repositories: RepositoryService, worker: WorkerProcess): RepositoryService {
  const inWorker = gitCalls.map((name) => [name, (...request: never) => worker.call(name, ...request)])
  return {
    ...repositories,
    ...(Object.fromEntries(inWorker) as GitCalls),
    // An entry without a repository has no texts in git, so it must not start the process.
    blame: (entry) => (entry.repositoryId === null ? repositories.blame(entry) : worker.call('blame', entry)),
    contents: (entry) => (entry.repositoryId === null ? repositories.contents(entry) : worker.call('contents', entry)),
  }
}

function startFlushing(lastUsed: LastUsedTracker, log: Logger): Running['lastUsedFlusher'] {
  const flush = () => lastUsed.flush()
  // A failed flush is not critical: the next one writes the same times.
  const failure = 'could not store when keys were last used'
  const loop = startLoop({ tasks: [{ run: flush }], restMs: flushIntervalMs, log, failure })
  return {
    async stop() {
      await loop.stop()
      await flush().catch((error) => log.warn({ err: error }, failure))
    },
  }
}
