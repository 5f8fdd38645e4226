import type { SignalStore } from '../../domain/signal.ts'
import type { PostgresDatabase } from './database.ts'

/** In one statement: of two who take the same signal back at once, one waits and then finds none. */
const retractSql = `
with removed as (
  delete from signals where organisation_id = $1 and prompt_id = $2 and id = $3 returning value, created_at
),
subtracted as (
  update signal_hours h set
    positive = h.positive - case r.value when 'positive' then 1 else 0 end,
    negative = h.negative - case r.value when 'negative' then 1 else 0 end
  from removed r
  where h.organisation_id = $1 and h.prompt_id = $2 and h.hour = r.created_at - r.created_at % 3600000
)
select count(*) as count from removed`

export function retractSignal(database: PostgresDatabase): SignalStore['retract'] {
  return async ({ organisationId, id: promptId }, id) => {
    const [row] = await database.query(retractSql, [organisationId, promptId, id])
    return row?.count === 1
  }
}
