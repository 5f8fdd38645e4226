import type { Span } from '../../domain/signals/interval.ts'
import type { VoteWindow } from '../../domain/signals/signal.ts'
import { type ColumnTypes, type Database, type Statement, statement } from './database.ts'

const spanColumns: ColumnTypes = { first: 'bigint', last: 'bigint' }

// No version is empty, so it stands for signals without one.
const unversioned = ''

// Each signal is compared with each of them. A version can be live thousands of times.
const maxSpans = 20

/** Which signals of this time are part of the window, to follow other conditions. Null if there are too many spans for SQL. */
export function windowCondition(database: Database, window: VoteWindow, { from, until }: Span): Statement | null {
  const { versions, unversionedOnly } = window
  const spans = window.spans.filter((span) => span.from < until && span.until > from)
  const isCovered = spans.some((span) => span.from <= from && span.until >= until)
  if (!isCovered && spans.length > maxSpans) return null
  const records = spans.map((span) => ({ first: span.from, last: span.until }))
  const inSpans = `exists (select 1 from ${database.jsonRecords(spanColumns)} where created_at >= first and created_at < last)`
  if (!unversionedOnly) return isCovered ? statement('') : statement(`and ${inSpans}`, [JSON.stringify(records)])
  const counted = spans.length === 0 ? versions : [...versions, unversioned]
  // An expression instead of the column: otherwise SQLite reads all signals of each version, to sort them by time.
  const inVersions = `and coalesce(version, '${unversioned}') in ${database.jsonElements('text')}`
  if (isCovered || spans.length === 0) return statement(inVersions, [JSON.stringify(counted)])
  return statement(`${inVersions} and (version is not null or ${inSpans})`, [
    JSON.stringify(counted),
    JSON.stringify(records),
  ])
}
