import type { HourlySums, Series } from '../../domain/signals/series.ts'
import { maxSeriesHours } from '../../domain/signals/series.ts'
import type { SignalStore } from '../../domain/signals/signal.ts'
import { hour, hourStart, type Instant } from '../../domain/time.ts'
import type { Database, Value } from './database.ts'

// One row of text instead of a row per hour, which both drivers would turn into an object.
const packed = `string_agg((hour / ${hour}) || ',' || positive || ',' || negative, ',')`

/** Reads all hourly sums of a prompt. */
export function sqlSeries(database: Database): SignalStore['series'] {
  return async (prompt, until) => {
    const ofPrompt = [prompt.organisationId, prompt.id]
    const last = until === null ? Number.MAX_SAFE_INTEGER : hourStart(until)
    const from = await firstHour(ofPrompt)
    const values = [...ofPrompt, from, last]
    const condition = 'organisation_id = ? and prompt_id = ? and hour >= ? and hour < ?'
    const [[hours], versions] = await Promise.all([
      database.rows(
        `select ${packed} as sums from (select hour, positive, negative from signal_hours where ${condition} order by hour) as ordered`,
        values,
      ),
      database.rows(
        `select version, ${packed} as sums from (
           select version, hour, positive, negative from version_hours where ${condition} order by version, hour) as ordered
         group by version`,
        values,
      ),
    ])
    const series: Series = {
      hours: unpack(hours?.sums),
      versions: versions.map((row) => ({ version: row.version as string, hours: unpack(row.sums) })),
      from,
    }
    return until === null ? series : withStartedHour(series, ofPrompt, until)
  }

  /** The first hour that is read. */
  async function firstHour(ofPrompt: Value[]): Promise<Instant> {
    const rows = await Promise.all(
      ['signal_hours', 'version_hours'].map((table) =>
        database.rows(
          `select hour from ${table} where organisation_id = ? and prompt_id = ? order by hour desc limit 1 offset ${maxSeriesHours}`,
          ofPrompt,
        ),
      ),
    )
    return Math.max(0, ...rows.flat().map((row) => (row.hour as number) + hour))
  }

  /** Adds the signals of the hour in which the series ends, which have to be counted one by one. */
  async function withStartedHour(series: Series, ofPrompt: Value[], until: Instant): Promise<Series> {
    const start = hourStart(until)
    if (start === until) return series
    const rows = await database.rows(
      `select version, sum(case when value = 'positive' then 1 else 0 end) as positive,
         sum(case when value = 'negative' then 1 else 0 end) as negative
       from signals where organisation_id = ? and prompt_id = ? and created_at >= ? and created_at < ?
         and created_at >= (select kept_since from signal_retention) group by version`,
      [...ofPrompt, start, until],
    )
    if (rows.length === 0) return series
    const versions = new Map(series.versions.map((each) => [each.version, each]))
    let [positive, negative] = [0, 0]
    for (const row of rows) {
      const counts = [row.positive as number, row.negative as number] as const
      positive += counts[0]
      negative += counts[1]
      const version = row.version as string | null
      if (version === null) continue
      const hours = versions.get(version)?.hours ?? []
      versions.set(version, { version, hours: [...hours, start, ...counts] })
    }
    return { ...series, hours: [...series.hours, start, positive, negative], versions: [...versions.values()] }
  }
}

function unpack(text: Value | undefined): HourlySums {
  if (typeof text !== 'string') return []
  const sums: HourlySums = JSON.parse(`[${text}]`)
  for (let i = 0; i < sums.length; i += 3) sums[i] = (sums[i] as number) * hour
  return sums
}
