import type { Instant } from '../../domain/time.ts'
import { changesClosed, increaseRevision } from '../sql/hour-revisions.ts'
import { addToSums, type SumChanges } from '../sql/sum-changes.ts'
import type { SqliteDatabase } from './database.ts'

/** Applies the changes of a batch. */
export function hourlySums(database: SqliteDatabase): (changes: SumChanges, now: Instant) => void {
  const addToHour = database.prepare(addToSums('signal_hours', 'values (?, ?, ?, ?, ?)'))
  const addToVersion = database.prepare(addToSums('version_hours', 'values (?, ?, ?, ?, ?, ?)'))
  const addRevision = database.prepare(
    `insert into hour_revisions (organisation_id, prompt_id, revision) values (?, ?, 1) ${increaseRevision}`,
  )
  return (changes, now) => {
    const revised = new Map<number, number>()
    for (const { organisationId, promptId, version, hour, positive, negative } of changes.all()) {
      if (version === null) addToHour.run(organisationId, promptId, hour, positive, negative)
      else addToVersion.run(organisationId, promptId, version, hour, positive, negative)
      if (changesClosed(hour, now)) revised.set(promptId, organisationId)
    }
    for (const [promptId, organisationId] of revised) addRevision.run(organisationId, promptId)
  }
}
