import type { PlanLimits } from '../domain/access/plan.ts'
import type { Store } from '../domain/store.ts'
import { by, counter, type Family, gauge, type Sample } from './text-format.ts'

/** Parts of the service that keep their own counts, which are read on every scrape. */
export interface Sources {
  store: Store
  planLimits: PlanLimits
  version: string
  engine: string
  loadShedder: {
    inFlight(): { reads: number; writes: number; strangers: number; bodyBytes: number }
    rejected(): Record<string, number>
  }
  connections(): number
  /** The worker process, which counts syncs and git runs. */
  worker: { families(): Promise<Family[]> }
  judge: {
    stats(): { judged: number; failed: number; dropped: number; sweeps: number; waiting: number; seconds: number }
  }
  /** The sender of alerts. Null before it has started. */
  alerts: () => { stats(): { attempts: Record<string, number> } } | null
}

const databaseTimeoutMs = 1_000

export async function readSources(sources: Sources): Promise<Family[]> {
  const { store, planLimits, version, engine, loadShedder, connections, worker } = sources
  const { reads, writes, strangers, bodyBytes } = loadShedder.inFlight()
  const { caches, connections: pool } = store.stats()
  const queues = Object.entries(store.queues)
  const now = Date.now()
  const [deliveries, [stale, age]] = await Promise.all([
    countFromDatabase(store.deliveries.countPending()),
    fromDatabase(
      store.repositories.staleness(now).then((found) => stalenessSamples(found, now)),
      [[], []],
    ),
  ])
  return [
    gauge('promptledger_build_info', 'Version of the service, of Node and of the database engine. Always 1.', [
      { labels: { version, node: process.versions.node, engine }, value: 1 },
    ]),
    gauge(
      'promptledger_plan_limit_signals',
      'Signals per month on each plan. +Inf if unlimited.',
      Object.entries(planLimits).map(([plan, limit]) => ({
        labels: { plan },
        value: limit ?? Number.POSITIVE_INFINITY,
      })),
    ),
    gauge('promptledger_http_connections', 'Open client connections.', [{ value: connections() }]),
    gauge(
      'promptledger_http_requests_in_flight',
      'Requests accepted whose response has not been read yet.',
      by('kind', { read: reads, write: writes, stranger: strangers }),
    ),
    gauge(
      'promptledger_http_in_flight_body_bytes',
      'Body bytes announced by the requests in flight whose caller is known.',
      [{ value: bodyBytes }],
    ),
    counter(
      'promptledger_http_requests_rejected_total',
      'Requests rejected because of overload, by reason.',
      by('reason', loadShedder.rejected()),
    ),
    gauge(
      'promptledger_database_queue_length',
      'Calls waiting for the database, by queue.',
      queues.map(([queue, { waiting }]) => ({ labels: { queue }, value: waiting() })),
    ),
    gauge(
      'promptledger_database_stalled_seconds',
      'Time that calls have been waiting without a response from the database, by queue.',
      queues.map(([queue, { stalledForMs }]) => ({ labels: { queue }, value: stalledForMs() / 1_000 })),
    ),
    counter(
      'promptledger_cache_lookups_total',
      'Cache lookups, by cache and result.',
      Object.entries(caches).flatMap(([cache, { hits, misses }]) => [
        { labels: { cache, result: 'hit' }, value: hits },
        { labels: { cache, result: 'miss' }, value: misses },
      ]),
    ),
    gauge(
      'promptledger_database_connections',
      'Connections to PostgreSQL, by state.',
      pool === null ? [] : by('state', { used: pool.total - pool.idle, idle: pool.idle }),
    ),
    gauge(
      'promptledger_database_connection_pending_requests',
      'Statements waiting for a connection to PostgreSQL.',
      pool === null ? [] : [{ value: pool.waiting }],
    ),
    gauge('promptledger_deliveries_pending', 'Deliveries waiting to be processed.', deliveries),
    gauge('promptledger_repositories_stale', 'Repositories without a successful sync for more than two hours.', stale),
    gauge('promptledger_repository_sync_age_seconds', 'Age of the oldest last successful sync of a repository.', age),
    ...judgeFamilies(sources),
    ...(await alertFamilies(sources)),
    ...(await worker.families()),
  ]
}

/** No sample if the database does not respond: that is when the other metrics matter most, so they must not wait. */
async function fromDatabase<T>(counted: Promise<T>, otherwise: T): Promise<T> {
  const timedOut = new Promise<T>((resolve) => setTimeout(resolve, databaseTimeoutMs, otherwise).unref())
  return Promise.race([counted, timedOut]).catch(() => otherwise)
}

function countFromDatabase(counted: Promise<number>): Promise<Sample[]> {
  return fromDatabase(
    counted.then((value) => [{ value }]),
    [],
  )
}

function stalenessSamples(found: { stale: number; oldestSyncAt: number | null }, now: number): [Sample[], Sample[]] {
  const { stale, oldestSyncAt } = found
  return [[{ value: stale }], [{ value: oldestSyncAt === null ? 0 : Math.max(0, (now - oldestSyncAt) / 1_000) }]]
}

function judgeFamilies({ judge }: Sources): Family[] {
  const { judged, failed, dropped, sweeps, waiting, seconds } = judge.stats()
  return [
    counter(
      'promptledger_judged_prompts_total',
      'Prompts judged in the background, by outcome. Those dropped are judged by the next daily sweep.',
      by('outcome', { judged, failed, dropped }),
    ),
    counter('promptledger_judge_seconds_total', 'Time spent judging prompts.', [{ value: seconds }]),
    gauge('promptledger_judge_waiting_prompts', 'Prompts with new votes that wait to be judged.', [{ value: waiting }]),
    counter('promptledger_judge_sweeps_total', 'Daily sweeps over all prompts that this process has finished.', [
      { value: sweeps },
    ]),
  ]
}

// Names come from users, so the number of series has to be limited.
const maxSeries = 1_000
const noAttempts = { sent: 0, retry: 0, rejected: 0, gone: 0 }

async function alertFamilies({ store, alerts }: Sources): Promise<Family[]> {
  const [open, pending, failing] = await Promise.all([
    fromDatabase(store.regressions.openCounts(maxSeries), []),
    countFromDatabase(store.alertDeliveries.countPending()),
    countFromDatabase(store.signalEvents.countFailing()),
  ])
  const attempts = alerts()?.stats().attempts ?? noAttempts
  return [
    gauge(
      'promptledger_regressions_open',
      'Open regressions, by organisation and prompt. At most 1,000 prompts.',
      open.map(({ organisation, prompt, count }) => ({ labels: { organisation, prompt }, value: count })),
    ),
    gauge(
      'promptledger_alert_deliveries_pending',
      'Messages to alerts and pull requests that wait to be sent.',
      pending,
    ),
    gauge('promptledger_signal_webhooks_failing', 'Webhooks for signals that did not take the last request.', failing),
    counter(
      'promptledger_alert_attempts_total',
      'Attempts to send a message to an alert or a pull request, by outcome. retry: to be repeated.',
      by('outcome', attempts),
    ),
  ]
}
