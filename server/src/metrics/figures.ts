import type { Store } from '../domain/store.ts'
import type { Family, Sample } from './text.ts'

/** What others count by themselves, read when somebody looks. */
export interface Sources {
  store: Store
  version: string
  engine: string
  admission: {
    inFlight(): { reads: number; writes: number; bodyBytes: number }
    rejected(): Record<string, number>
  }
  connections(): number
  gitRuns: { started: number; failed: number }
}

const patience = 1_000

export async function figures({ store, version, engine, admission, connections, gitRuns }: Sources): Promise<Family[]> {
  const { reads, writes, bodyBytes } = admission.inFlight()
  const { caches: memory, connections: pool } = store.stats()
  const lines = { look_ups: store.queues.refresh, signals: store.queues.signals }
  return [
    gauge('promptledger_build_info', 'What is running.', [
      { labels: { version, node: process.versions.node, engine }, value: 1 },
    ]),
    gauge('promptledger_http_connections', 'Open connections of clients.', [{ value: connections() }]),
    gauge('promptledger_http_requests_under_way', 'Requests taken on and not answered yet.', [
      { labels: { kind: 'read' }, value: reads },
      { labels: { kind: 'write' }, value: writes },
    ]),
    gauge('promptledger_http_body_bytes_under_way', 'Bytes of body that these requests have or announce.', [
      { value: bodyBytes },
    ]),
    counter(
      'promptledger_http_requests_refused_total',
      'Requests refused because of overload, by what there was too much of.',
      [...by('reason', admission.rejected())],
    ),
    gauge(
      'promptledger_waiting',
      'Calls that wait for the database, by what they wait for.',
      Object.entries(lines).map(([line, { waiting }]) => ({ labels: { line }, value: waiting() })),
    ),
    gauge(
      'promptledger_database_silence_seconds',
      'For how long somebody has been waiting without any answer of the database.',
      Object.entries(lines).map(([line, { stalledForMs: silentFor }]) => ({
        labels: { line },
        value: silentFor() / 1_000,
      })),
    ),
    counter(
      'promptledger_memory_lookups_total',
      'What was looked up in memory, and whether it was there.',
      Object.entries(memory).flatMap(([kind, { hits, misses }]) => [
        { labels: { kind, result: 'hit' }, value: hits },
        { labels: { kind, result: 'miss' }, value: misses },
      ]),
    ),
    gauge('promptledger_database_connections', 'Connections to PostgreSQL.', [
      ...by('state', pool === null ? {} : { used: pool.total - pool.idle, idle: pool.idle }),
    ]),
    gauge(
      'promptledger_database_connections_waiting',
      'Statements that wait for a connection to PostgreSQL.',
      pool === null ? [] : [{ value: pool.waiting }],
    ),
    gauge('promptledger_deliveries_pending', 'Deliveries that are still to be worked on.', await pending(store)),
    counter('promptledger_git_runs_total', 'How often git was run.', [{ value: gitRuns.started }]),
    counter('promptledger_git_failures_total', 'How often it failed.', [{ value: gitRuns.failed }]),
  ]
}

/** Nothing where the database does not answer: the rest must be seen then more than ever. */
async function pending(store: Store): Promise<Sample[]> {
  const counted = store.deliveries.countPending().then((value) => [{ value }])
  const late = new Promise<Sample[]>((resolve) => setTimeout(resolve, patience, []).unref())
  return Promise.race([counted, late]).catch(() => [])
}

function by(label: string, values: Record<string, number>): Sample[] {
  return Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }))
}

function counter(name: string, help: string, samples: Sample[]): Family {
  return { name, type: 'counter', help, samples }
}

function gauge(name: string, help: string, samples: Sample[]): Family {
  return { name, type: 'gauge', help, samples }
}
