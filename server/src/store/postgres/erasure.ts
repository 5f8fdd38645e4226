import { statement } from '../sql/database.ts'
import { mayMatch, type SignalScan, toPosition } from '../sql/erasure.ts'
import { deletedColumns } from '../sql/signal-hours.ts'
import type { PostgresDatabase } from './database.ts'

// Up to 16 KB of metadata in each row, which arrive and are parsed at once.
const batchSize = 200

/** Scans by the primary key, which starts with the organisation. */
export function postgresSignalScan(database: PostgresDatabase): SignalScan {
  return {
    async next({ organisationId, last }, pattern) {
      const rows = await database.rows(
        `select prompt_id, created_at, id, case when ${mayMatch} then metadata end as metadata
         from signals where organisation_id = ? and (prompt_id, created_at, id) > (?, ?, ?)
         order by prompt_id, created_at, id limit ${batchSize}`,
        [pattern, organisationId, last.promptId, last.createdAt, last.id],
      )
      const end = rows.length < batchSize ? undefined : rows.at(-1)
      return {
        candidates: rows.filter(({ metadata }) => metadata !== null),
        last: end === undefined ? null : toPosition(end),
      }
    },

    // Includes the time, so PostgreSQL touches only the partitions concerned. The signals are in time order.
    remove: (organisationId, signals) =>
      [...Map.groupBy(signals, ({ promptId }) => promptId)].flatMap(([promptId, ofPrompt]) => {
        const [first, last] = [ofPrompt[0], ofPrompt.at(-1)].map((signal) => signal?.createdAt as number)
        const ids = JSON.stringify(ofPrompt.map(({ id }) => id))
        const selected = `organisation_id = ? and prompt_id = ? and created_at >= ? and created_at <= ?
             and id in ${database.jsonElements('bigint')}`
        const parameters = [organisationId, promptId, first as number, last as number, ids]
        return [
          statement(
            `delete from signal_subjects where organisation_id = ? and prompt_id = ?
               and subject in (select subject from signals where ${selected})`,
            [organisationId, promptId, ...parameters],
          ),
          statement(`delete from signals where ${selected} returning ${deletedColumns}`, parameters),
        ]
      }),
  }
}
