import type { SignalToRecord, SignalValue } from '../../domain/signals/signal.ts'
import type { VersionText } from '../../domain/signals/version.ts'
import { hourStart, type Instant } from '../../domain/time.ts'
import { changesClosed, increaseRevision } from '../sql/hour-revisions.ts'
import type { SqliteDatabase } from './database.ts'

interface Sum {
  organisationId: number
  promptId: number
  version: VersionText | null
  hour: Instant
  positive: number
  negative: number
}

/** The changes of one batch to hourly sums. Each sum is written once, however many signals it counts. */
export interface SumChanges {
  /** `count` is 1 to add a signal, -1 to remove one. */
  change(signal: SignalToRecord, value: SignalValue, version: VersionText | null, at: Instant, count: 1 | -1): void
  save(now: Instant): void
}

const update = 'set positive = positive + excluded.positive, negative = negative + excluded.negative'

export function hourlySums(database: SqliteDatabase): () => SumChanges {
  const addToHour = database.prepare(
    `insert into signal_hours (organisation_id, prompt_id, hour, positive, negative) values (?, ?, ?, ?, ?)
     on conflict do update ${update}`,
  )
  const addToVersion = database.prepare(
    `insert into version_hours (organisation_id, prompt_id, version, hour, positive, negative) values (?, ?, ?, ?, ?, ?)
     on conflict do update ${update}`,
  )
  const addRevision = database.prepare(
    `insert into hour_revisions (organisation_id, prompt_id, revision) values (?, ?, 1) ${increaseRevision}`,
  )
  return () => {
    const sums = new Map<string, Sum>()

    function sumOf({ organisationId, promptId }: SignalToRecord, version: VersionText | null, at: Instant): Sum {
      const hour = hourStart(at)
      // A version is never empty, so the two kinds of keys differ.
      const key = version === null ? `${promptId} ${hour}` : `${promptId} ${hour} ${version}`
      let sum = sums.get(key)
      if (sum === undefined) {
        sum = { organisationId, promptId, version, hour, positive: 0, negative: 0 }
        sums.set(key, sum)
      }
      return sum
    }

    return {
      change(signal, value, version, at, count) {
        sumOf(signal, null, at)[value] += count
        if (version !== null) sumOf(signal, version, at)[value] += count
      },
      save(now) {
        const revised = new Map<number, number>()
        for (const { organisationId, promptId, version, hour, positive, negative } of sums.values()) {
          if (positive === 0 && negative === 0) continue
          if (version === null) addToHour.run(organisationId, promptId, hour, positive, negative)
          else addToVersion.run(organisationId, promptId, version, hour, positive, negative)
          if (changesClosed(hour, now)) revised.set(promptId, organisationId)
        }
        for (const [promptId, organisationId] of revised) addRevision.run(organisationId, promptId)
      },
    }
  }
}
