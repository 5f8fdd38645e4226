import type { Prompt } from '../../domain/prompt.ts'
import { type Interval, intervalLength, intervalOrigin, type Span } from '../../domain/signals/interval.ts'
import type { IntervalTally } from '../../domain/signals/signal.ts'
import type { Tally } from '../../domain/signals/tally.ts'
import type { VersionText } from '../../domain/signals/version.ts'
import { hourStart, type Instant } from '../../domain/time.ts'
import type { Database, Row } from './database.ts'

/** Counts of the signals of one prompt with one version. */
export interface VersionCounts {
  total(span: Span): Promise<Tally>
  /** The retained signals of the hour of `at` that came before it. */
  startedHour(at: Instant): Promise<Tally>
  /** Newest first. */
  byInterval(span: Span, interval: Interval): Promise<IntervalTally[]>
}

/** Counts by the hourly sums of the version, and reads single signals only for hours that a span covers in part. */
export function sqlVersionCounts(
  database: Database,
  { organisationId, id }: Prompt,
  version: VersionText,
): VersionCounts {
  const ofVersion = 'organisation_id = ? and prompt_id = ? and version = ?'
  const parameters = [organisationId, id, version]
  const sums = 'coalesce(sum(positive), 0) as positive, coalesce(sum(negative), 0) as negative'

  async function startedHour(at: Instant): Promise<Tally> {
    const rows = await database.rows(
      `select value, count(*) as count from signals where ${ofVersion} and created_at >= ? and created_at < ?
         and created_at >= (select kept_since from signal_retention) group by value`,
      [...parameters, hourStart(at), at],
    )
    const countOf = (value: string) => (rows.find((row) => row.value === value)?.count ?? 0) as number
    return { positive: countOf('positive'), negative: countOf('negative') }
  }

  return {
    startedHour,

    async total({ from, until }) {
      const [[hours], beforeStart, beforeEnd] = await Promise.all([
        database.rows(`select ${sums} from version_hours where ${ofVersion} and hour >= ? and hour < ?`, [
          ...parameters,
          hourStart(from),
          hourStart(until),
        ]),
        startedHour(from),
        startedHour(until),
      ])
      const whole = toTally(hours as Row)
      return {
        positive: whole.positive + beforeEnd.positive - beforeStart.positive,
        negative: whole.negative + beforeEnd.negative - beforeStart.negative,
      }
    },

    async byInterval({ from, until }, interval) {
      const start = `hour - (hour - ${intervalOrigin(interval)}) % ${intervalLength(interval)}`
      const rows = await database.rows(
        `select ${start} as start, ${sums} from version_hours
         where ${ofVersion} and hour >= ? and hour < ? group by 1 order by 1 desc`,
        [...parameters, from, until],
      )
      return rows.map((row) => ({ start: row.start as number, ...toTally(row) }))
    },
  }
}

function toTally(row: Row): Tally {
  return { positive: row.positive as number, negative: row.negative as number }
}
