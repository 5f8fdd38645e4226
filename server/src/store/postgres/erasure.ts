import type { SignalPosition } from '../../domain/signals/erasure.ts'
import { statement } from '../sql/database.ts'
import { mayMatch, type SignalScan, toPosition } from '../sql/erasure.ts'
import { deletedColumns } from '../sql/signal-deletion.ts'
import type { PostgresDatabase } from './database.ts'

// Up to 16 KB of metadata in each row, which arrive and are parsed at once.
const batchSize = 200

/** Scans prompt by prompt: no index starts with the organisation. */
export function postgresSignalScan(database: PostgresDatabase): SignalScan {
  return {
    async next({ organisationId, last }, pattern) {
      const rows = await database.rows(
        `select prompt_id, created_at, id, case when ${mayMatch} then metadata end as metadata
         from signals where organisation_id = ? and prompt_id = ? and (created_at, id) > (?, ?)
         order by created_at, id limit ${batchSize}`,
        [pattern, organisationId, last.promptId, last.createdAt, last.id],
      )
      const end = rows.at(-1)
      const isComplete = end === undefined || rows.length < batchSize
      return {
        candidates: rows.filter(({ metadata }) => metadata !== null),
        last: isComplete ? await startOfNext(organisationId, last.promptId) : toPosition(end),
      }
    },

    // Like the signal batch, which locks the vote before it changes the signal. Otherwise a vote that moves to another time between
    // two statements would be deleted without its signal.
    lockVotes: (organisationId, signals) =>
      byPrompt(signals).map(([promptId, ofPrompt]) => {
        const { condition, parameters } = selected(organisationId, promptId, ofPrompt)
        return statement(
          `select 1 from signal_subjects where organisation_id = ? and prompt_id = ?
             and subject in (select subject from signals where ${condition})
           order by subject collate "C" for update`,
          [organisationId, promptId, ...parameters],
        )
      }),

    remove: (organisationId, signals) =>
      byPrompt(signals).map(([promptId, ofPrompt]) => {
        const { condition, parameters } = selected(organisationId, promptId, ofPrompt)
        return statement(`delete from signals where ${condition} returning ${deletedColumns}`, parameters)
      }),
  }

  async function startOfNext(organisationId: number, promptId: number): Promise<SignalPosition | null> {
    const sql = 'select min(id) as id from prompts where organisation_id = ? and id > ?'
    const [next] = await database.rows(sql, [organisationId, promptId])
    return next?.id == null ? null : { promptId: next.id as number, createdAt: 0, id: 0 }
  }

  // Includes the time, so PostgreSQL touches only the partitions concerned. The signals are in time order.
  function selected(organisationId: number, promptId: number, signals: SignalPosition[]) {
    const [first, last] = [signals[0], signals.at(-1)].map((signal) => signal?.createdAt as number)
    const ids = JSON.stringify(signals.map(({ id }) => id))
    return {
      condition: `organisation_id = ? and prompt_id = ? and created_at >= ? and created_at <= ?
        and id in ${database.jsonElements('bigint')}`,
      parameters: [organisationId, promptId, first as number, last as number, ids],
    }
  }
}

function byPrompt(signals: SignalPosition[]): [promptId: number, SignalPosition[]][] {
  return [...Map.groupBy(signals, ({ promptId }) => promptId)].sort(([a], [b]) => a - b)
}
