import { hourStart } from '../../domain/time.ts'
import { type Database, type Row, type Statement, statement, type TypedColumn } from './database.ts'

const columns: TypedColumn[] = [
  { name: 'prompt', type: 'bigint' },
  { name: 'hour', type: 'bigint' },
  { name: 'positive', type: 'bigint' },
  { name: 'negative', type: 'bigint' },
]

/** Subtracts signals that were just deleted (rows with `prompt_id`, `value` and `created_at`) from their hourly sums. */
export function subtractFromHours(database: Database, organisationId: number, removed: Row[]): Statement[] {
  if (removed.length === 0) return []
  const hours = [...Map.groupBy(removed, keyOf).values()].map((signals) => {
    const { prompt_id: prompt, created_at } = signals[0] as Row
    const positive = signals.filter(({ value }) => value === 'positive').length
    return { prompt, hour: hourStart(created_at as number), positive, negative: signals.length - positive }
  })
  return [
    statement(
      // The same order as in the signal batch prevents deadlocks on the rows of signal_hours.
      `insert into signal_hours (organisation_id, prompt_id, hour, positive, negative)
       select cast(? as bigint), prompt, hour, -positive, -negative from ${database.jsonRecords(columns)} where true
       order by prompt, hour
       on conflict (organisation_id, prompt_id, hour) do update set
         positive = signal_hours.positive + excluded.positive, negative = signal_hours.negative + excluded.negative`,
      [organisationId, JSON.stringify(hours)],
    ),
  ]
}

function keyOf({ prompt_id, created_at }: Row): string {
  return `${prompt_id} ${hourStart(created_at as number)}`
}
