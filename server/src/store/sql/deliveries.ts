import type {
  Delivery,
  DeliveryOutcome,
  DeliveryState,
  DeliveryStore,
  NewDelivery,
} from '../../domain/repositories/delivery.ts'
import { maxFuture } from '../../domain/repositories/lease.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { groupCommit } from '../group-commit.ts'
import {
  type ColumnTypes,
  countRows,
  type Database,
  firstOrNull,
  isDueSql,
  type Row,
  requireRow,
  type Statement,
  statement,
  writeRows,
} from './database.ts'

const columns = `id, organisation_id, repository_id, delivery_id, event, state, attempts, error, received_at, next_attempt_at,
  finished_at`

export function sqlDeliveries(database: Database): DeliveryStore {
  // Like signals, concurrent deliveries share one flush to disk.
  const received = groupCommit<Received, void>(
    async (batch) => {
      // A fixed order prevents deadlocks between processes that insert the same deliveries.
      const ordered = batch.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      await database.write(inChunks(withoutRepeats(ordered)).map(insertDeliveries))
      return batch.map(() => undefined)
    },
    { batchSize: largestChunk },
  )

  return {
    receive: (repository, delivery) => received.submit({ repository, delivery }),

    async pending({ organisationId, id }, now, limit) {
      const sizes = await database.rows(
        `select id, length(body) as size from deliveries
         where organisation_id = ? and repository_id = ? and state = 'pending'
           and (attempts = 0 or ${isDueSql('next_attempt_at')})
         order by id limit ?`,
        [organisationId, id, now, now + maxFuture.attempt, limit],
      )
      const ids = fitting(sizes as { id: number; size: number }[])
      const sql = `select ${columns}, body from deliveries where ${database.haveIds()} order by id`
      const rows = await database.rows(sql, [organisationId, JSON.stringify(ids)])
      return rows.map((row) => ({ ...toDelivery(row), body: row.body as string }))
    },

    async nextAttempt({ organisationId, id }) {
      const sql = `select min(next_attempt_at) as at from deliveries
        where organisation_id = ? and repository_id = ? and state = 'pending'`
      return requireRow(await database.rows(sql, [organisationId, id])).at as number | null
    },

    countPending: () => countRows(database, `deliveries where state = 'pending'`),

    async pendingSize(organisationId) {
      // octet_length, unlike length, does not read the bodies.
      const sql = `select count(*) as count, coalesce(sum(octet_length(body)), 0) as bytes from deliveries
        where organisation_id = ? and state = 'pending'`
      const { count, bytes } = requireRow(await database.rows(sql, [organisationId]))
      return { count: count as number, bytes: bytes as number }
    },

    async list({ organisationId, id }, limit) {
      const sql = `select ${columns} from deliveries where organisation_id = ? and repository_id = ? order by id desc limit ?`
      return (await database.rows(sql, [organisationId, id, limit])).map(toDelivery)
    },

    async find(id) {
      return firstOrNull(await database.rows(`select ${columns} from deliveries where id = ?`, [id]), toDelivery)
    },

    async redeliver({ organisationId, id }, now) {
      const rows = await writeRows(
        database,
        `update deliveries set state = 'pending', attempts = 0, error = null, next_attempt_at = ?, finished_at = null
         where organisation_id = ? and id = ? returning ${columns}`,
        [now, organisationId, id],
      )
      return toDelivery(requireRow(rows))
    },

    async deleteBefore(receivedAt) {
      const [rows = []] = await database.write([
        statement(
          `delete from deliveries where received_at < ? and state <> 'pending'
             and id not in (select max(id) from deliveries group by organisation_id, repository_id) returning id`,
          [receivedAt],
        ),
        statement('delete from pushes where received_at < ?', [receivedAt]),
      ])
      return rows.length
    },
  }
}

interface Received {
  repository: Repository
  delivery: NewDelivery
}

function keyOf({ repository, delivery }: Received): string {
  return `${repository.id} ${delivery.deliveryId}`
}

/** One statement must not insert the same delivery twice. Deliveries without an ID are never the same. */
function withoutRepeats(ordered: Received[]): Received[] {
  return ordered.filter((received, i) => {
    const previous = ordered[i - 1]
    return received.delivery.deliveryId === null || previous === undefined || keyOf(received) !== keyOf(previous)
  })
}

/**
 * A power of two: few sizes, because each is a statement that PostgreSQL keeps prepared. A batch of this size is a single
 * statement and so a single round trip, which matters while the server is busy.
 */
function largestChunk(length: number): number {
  return 2 ** Math.floor(Math.log2(length))
}

/** Several chunks only if the batch had repeated deliveries. */
function inChunks(received: Received[]): Received[][] {
  const chunks: Received[][] = []
  for (let start = 0; start < received.length; ) {
    const size = largestChunk(received.length - start)
    chunks.push(received.slice(start, start + size))
    start += size
  }
  return chunks
}

function insertDeliveries(received: Received[]): Statement {
  const rows = received.map(() => "(?, ?, ?, ?, ?, 'pending', ?, ?)")
  return statement(
    `insert into deliveries
       (organisation_id, repository_id, delivery_id, event, body, state, received_at, next_attempt_at)
     values ${rows.join(', ')}
     on conflict (organisation_id, repository_id, delivery_id) do update set
       state = 'pending', attempts = 0, next_attempt_at = excluded.next_attempt_at, finished_at = null
     where deliveries.state = 'failed'`,
    received.flatMap(({ repository, delivery: { deliveryId, event, body, receivedAt } }) => [
      repository.organisationId,
      repository.id,
      deliveryId,
      event,
      body,
      receivedAt,
      receivedAt,
    ]),
  )
}

const maxBatchCharacters = 32 * 1024 * 1024

/** As many as fit into memory together, but at least one. */
function fitting(sizes: { id: number; size: number }[]): number[] {
  let total = 0
  return sizes
    .filter(({ size }, i) => {
      total += size
      return i === 0 || total <= maxBatchCharacters
    })
    .map(({ id }) => id)
}

const outcomeColumns: ColumnTypes = {
  organisation_id: 'bigint',
  delivery: 'bigint',
  outcome: 'text',
  reason: 'text',
  attempt_at: 'bigint',
  ended_at: 'bigint',
}

/** One statement for all, because a round trip to PostgreSQL for each would keep the rows of a sync locked for longer. */
export function finishDeliveries(database: Database, organisationId: number, outcomes: DeliveryOutcome[]): Statement[] {
  if (outcomes.length === 0) return []
  const records = outcomes.map(({ id, state, error, nextAttemptAt, finishedAt }) => ({
    organisation_id: organisationId,
    delivery: id,
    outcome: state,
    reason: error,
    attempt_at: nextAttemptAt,
    ended_at: finishedAt,
  }))
  // The organisation comes from the records, so that SQLite looks up each delivery instead of comparing all with all.
  return [
    statement(
      `update deliveries set state = records.outcome, error = records.reason, next_attempt_at = records.attempt_at,
         finished_at = records.ended_at, attempts = attempts + 1
       from ${database.jsonRecords(outcomeColumns)}
       where deliveries.organisation_id = records.organisation_id and deliveries.id = records.delivery`,
      [JSON.stringify(records)],
    ),
  ]
}

function toDelivery(row: Row): Delivery {
  return {
    id: row.id as number,
    organisationId: row.organisation_id as number,
    repositoryId: row.repository_id as number,
    deliveryId: row.delivery_id as string | null,
    event: row.event as string,
    state: row.state as DeliveryState,
    attempts: row.attempts as number,
    error: row.error as string | null,
    receivedAt: row.received_at as number,
    nextAttemptAt: row.next_attempt_at as number,
    finishedAt: row.finished_at as number | null,
  }
}
