import { type Row, statement } from '../sql/database.ts'
import { mayFit, type SignalWalk } from '../sql/erasure.ts'
import type { PostgresDatabase } from './database.ts'

const portionSize = 1_000

/** By the primary key, which begins with the organisation. */
export function postgresWalk(database: PostgresDatabase): SignalWalk {
  return {
    async next({ organisationId, last }, pattern) {
      const rows = await database.rows(
        `select prompt_id, created_at, id, case when ${mayFit} then metadata end as metadata
         from signals where organisation_id = ? and (prompt_id, created_at, id) > (?, ?, ?)
         order by prompt_id, created_at, id limit ${portionSize}`,
        [pattern, organisationId, last.promptId, last.createdAt, last.id],
      )
      const end = rows.length < portionSize ? undefined : rows.at(-1)
      return {
        candidates: rows.filter(({ metadata }) => metadata !== null),
        last: end === undefined ? null : placeOf(end),
      }
    },

    // With the time, which tells the partitions; they are in its order.
    remove: (organisationId, signals) =>
      [...Map.groupBy(signals, ({ prompt_id }) => prompt_id as number)].map(([promptId, ofPrompt]) => {
        const [first, last] = [ofPrompt[0], ofPrompt.at(-1)].map((row) => row?.created_at as number)
        const ids = JSON.stringify(ofPrompt.map(({ id }) => id))
        return statement(
          `delete from signals where organisation_id = ? and prompt_id = ? and created_at >= ? and created_at <= ?
             and id in ${database.elements('bigint')} returning prompt_id, value, created_at`,
          [organisationId, promptId, first as number, last as number, ids],
        )
      }),
  }
}

function placeOf({ prompt_id, created_at, id }: Row) {
  return { promptId: prompt_id as number, createdAt: created_at as number, id: id as number }
}
