import { hourStart } from '../../domain/time.ts'
import { type Database, type Row, type StagedColumn, type Statement, statement } from './database.ts'

const columns: StagedColumn[] = [
  { name: 'prompt', type: 'bigint' },
  { name: 'hour', type: 'bigint' },
  { name: 'positive', type: 'bigint' },
  { name: 'negative', type: 'bigint' },
]

/** Takes signals that were just removed, with `prompt_id`, `value` and `created_at`, out of the sums of their hours. */
export function subtractFromHours(database: Database, organisationId: number, removed: Row[]): Statement[] {
  if (removed.length === 0) return []
  const hours = [...Map.groupBy(removed, keyOf).values()].map((signals) => {
    const { prompt_id: prompt, created_at } = signals[0] as Row
    const positive = signals.filter(({ value }) => value === 'positive').length
    return { prompt, hour: hourStart(created_at as number), positive, negative: signals.length - positive }
  })
  return [
    statement(
      // As in the signal batch, in the same order, or two acts could each wait for an hour that the other has locked.
      `insert into signal_hours (organisation_id, prompt_id, hour, positive, negative)
       select cast(? as bigint), prompt, hour, -positive, -negative from ${database.records(columns)} where true
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
