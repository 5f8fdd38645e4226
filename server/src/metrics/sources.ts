import type { Store } from '../domain/store.ts'
import { counter, type Family, gauge, type Sample } from './text-format.ts'

/** Parts of the service that keep their own counts, which are read on every scrape. */
export interface Sources {
  store: Store
  version: string
  engine: string
  loadShedder: {
    inFlight(): { reads: number; writes: number; webhooks: number; bodyBytes: number }
    rejected(): Record<string, number>
  }
  connections(): number
  gitRuns: { started: number; failed: number }
}

const databaseTimeoutMs = 1_000

export async function readSources(sources: Sources): Promise<Family[]> {
  const { store, version, engine, loadShedder, connections, gitRuns } = sources
  const { reads, writes, webhooks, bodyBytes } = loadShedder.inFlight()
  const { caches, connections: pool } = store.stats()
  const queues = Object.entries(store.queues)
  return [
    gauge('promptledger_build_info', 'Version of the service, of Node and of the database engine. Always 1.', [
      { labels: { version, node: process.versions.node, engine }, value: 1 },
    ]),
    gauge('promptledger_http_connections', 'Open client connections.', [{ value: connections() }]),
    gauge('promptledger_http_requests_in_flight', 'Requests accepted whose response has not been read yet.', [
      ...by('kind', { read: reads, write: writes, webhook: webhooks }),
    ]),
    gauge(
      'promptledger_http_in_flight_body_bytes',
      'Body bytes received or announced by the requests in flight, without webhooks.',
      [{ value: bodyBytes }],
    ),
    counter('promptledger_http_requests_rejected_total', 'Requests rejected because of overload, by reason.', [
      ...by('reason', loadShedder.rejected()),
    ]),
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
    gauge('promptledger_deliveries_pending', 'Deliveries waiting to be processed.', await countPending(store)),
    counter('promptledger_git_runs_total', 'Git processes started.', [{ value: gitRuns.started }]),
    counter('promptledger_git_failures_total', 'Git processes that failed.', [{ value: gitRuns.failed }]),
  ]
}

/** Without a response from the database there is no sample: the other metrics matter most then and must not wait. */
async function countPending(store: Store): Promise<Sample[]> {
  const counted = store.deliveries.countPending().then((value) => [{ value }])
  const timedOut = new Promise<Sample[]>((resolve) => setTimeout(resolve, databaseTimeoutMs, []).unref())
  return Promise.race([counted, timedOut]).catch(() => [])
}

function by(label: string, values: Record<string, number>): Sample[] {
  return Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }))
}
