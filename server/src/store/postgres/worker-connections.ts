import type pg from 'pg'
import { openPostgres, type PostgresDatabase, UnknownOutcome } from './database.ts'
import type { Worker, Workers } from './worker-queues.ts'

// Each queue has one batch in flight.
const poolSize = 2
const retryAfterMs = 30_000

// Copies of a server have the same number.
const systemIdentifier = '(select system_identifier::text from pg_control_system())'

// No such function or table, or not allowed.
const isUnknownHere = /^42/

interface Connection {
  /** Null if the worker cannot be reached from here. */
  opened: Promise<PostgresDatabase | null>
  startedAt: number
}

export interface WorkerConnections {
  /** Like `attempt` of a database, on the worker of the organisation. */
  attempt(organisationId: number, sql: string, values: unknown[]): ReturnType<PostgresDatabase['attempt']>
  close(): Promise<void>
}

/**
 * Sends batches of signals straight to the workers: the way through the coordinator doubles what a batch costs PostgreSQL. A worker
 * that this process cannot connect to, because the network or the login does not allow it, gets them through the coordinator.
 */
export function workerConnections(url: string, database: PostgresDatabase, workers: Workers): WorkerConnections {
  const connections = new Map<Worker, Connection>()

  async function open(worker: Worker, organisationId: number): Promise<PostgresDatabase | null> {
    const [node] = await database.rows(
      `select nodename as host, nodeport as port from pg_dist_node where groupid = ? and noderole = 'primary'`,
      [worker],
    )
    if (node === undefined) return null
    const opened = await openPostgres(
      urlOf(url, String(node.host), Number(node.port)),
      poolSize,
      () => {},
      () => forget(worker),
    ).catch(() => null)
    if (opened === null || (await isWorker(opened, organisationId).catch(() => false))) return opened
    await opened.close()
    return null
  }

  /** An address among servers, such as localhost, can be that of another database here. */
  async function isWorker(opened: PostgresDatabase, organisationId: number): Promise<boolean> {
    const [ofWorker] = await database.rows(
      `select ${systemIdentifier} as id, count(*) from signal_usage where organisation_id = ?`,
      [organisationId],
    )
    const [reached] = await opened.rows(`select ${systemIdentifier} as id`)
    return ofWorker?.id === reached?.id
  }

  function connect(worker: Worker, organisationId: number): Connection {
    const connection: Connection = {
      opened: open(worker, organisationId).catch(() => null),
      startedAt: performance.now(),
    }
    connections.set(worker, connection)
    return connection
  }

  async function connectionOf(worker: Worker, organisationId: number): Promise<PostgresDatabase | null> {
    const known = connections.get(worker) ?? connect(worker, organisationId)
    const opened = await known.opened
    // Batches do not wait for another try.
    const isDue = opened === null && performance.now() - known.startedAt > retryAfterMs
    if (isDue && connections.get(worker) === known) connect(worker, organisationId)
    return opened
  }

  /** The next batch asks for the address again: a standby may have taken over. */
  function forget(worker: Worker): void {
    const known = connections.get(worker)
    connections.delete(worker)
    known?.opened.then((opened) => opened?.close()).catch(() => {})
  }

  return {
    async attempt(organisationId, sql, values) {
      const worker = await workers.find(organisationId)
      const connection = await connectionOf(worker, organisationId)
      if (connection === null) return database.attempt(sql, values)
      try {
        return await connection.attempt(sql, values)
      } catch (error) {
        if (error instanceof UnknownOutcome) forget(worker)
        // A database that was distributed a moment ago: the worker commits later than the coordinator.
        else if (isUnknownHere.test((error as pg.DatabaseError).code ?? '')) return database.attempt(sql, values)
        throw error
      }
    },
    async close() {
      for (const worker of connections.keys()) forget(worker)
    },
  }
}

function urlOf(url: string, host: string, port: number): string {
  const of = new URL(url)
  // These would take precedence.
  for (const name of ['host', 'port']) of.searchParams.delete(name)
  of.hostname = host.includes(':') ? `[${host}]` : host
  of.port = String(port)
  return of.href
}
