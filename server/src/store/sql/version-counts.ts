import type { Prompt } from '../../domain/prompt.ts'
import type { Interval, Span } from '../../domain/signals/interval.ts'
import type { IntervalTally, SignalValue } from '../../domain/signals/signal.ts'
import { emptyTally, type Tally } from '../../domain/signals/tally.ts'
import type { VersionText } from '../../domain/signals/version.ts'
import { hourStart, type Instant } from '../../domain/time.ts'
import type { Database, Row } from './database.ts'
import { add, startOf, subtract, toIntervalTally, toTally } from './tallies.ts'

/** Counts of the signals of one prompt that a filter is about. */
export interface SignalCounts {
  total(span: Span): Promise<Tally>
  /** The retained signals of the hour of `at` that came before it. */
  startedHour(at: Instant): Promise<Tally>
  /** Newest first. */
  byInterval(span: Span, interval: Interval): Promise<IntervalTally[]>
}

/** Counts by the hourly sums of the versions, and reads single signals only for hours that a span covers in part. */
export function sqlVersionCounts(
  database: Database,
  { organisationId, id }: Prompt,
  versions: VersionText[],
): SignalCounts {
  const ofVersion = `organisation_id = ? and prompt_id = ? and version in (${versions.map(() => '?').join(', ')})`
  const parameters = [organisationId, id, ...versions]
  const sums = 'coalesce(sum(positive), 0) as positive, coalesce(sum(negative), 0) as negative'

  async function startedHour(at: Instant): Promise<Tally> {
    if (hourStart(at) === at) return emptyTally
    // One version at a time: for several, SQLite would read all signals of the prompt since the start of retention.
    const counted = await Promise.all(
      versions.map((version) =>
        database.rows(
          `select value, count(*) as count from signals
           where organisation_id = ? and prompt_id = ? and version = ? and created_at >= ? and created_at < ?
             and created_at + 0 >= (select kept_since from signal_retention) group by value`,
          [organisationId, id, version, hourStart(at), at],
        ),
      ),
    )
    const countOf = (value: SignalValue) =>
      counted.flat().reduce((sum, row) => (row.value === value ? sum + (row.count as number) : sum), 0)
    return { positive: countOf('positive'), negative: countOf('negative') }
  }

  return {
    startedHour,

    async total({ from, until }) {
      const [[hours], beforeStart, beforeEnd] = await Promise.all([
        database.rows(`select ${sums} from version_sums where ${ofVersion} and hour >= ? and hour < ?`, [
          ...parameters,
          hourStart(from),
          hourStart(until),
        ]),
        startedHour(from),
        startedHour(until),
      ])
      return subtract(add(toTally(hours as Row), beforeEnd), beforeStart)
    },

    async byInterval({ from, until }, interval) {
      const rows = await database.rows(
        `select ${startOf(interval)} as start, ${sums} from version_sums
         where ${ofVersion} and hour >= ? and hour < ? group by 1 order by 1 desc`,
        [...parameters, from, until],
      )
      return rows.map(toIntervalTally)
    },
  }
}
