import { defaultOverlapHours, type OverlapBody } from '../../../contract/schema.ts'
import { invalid } from '../domain/errors.ts'
import { hour, type Instant, parseTime } from '../domain/time.ts'
import { notFound } from './errors.ts'

export type Query = Record<string, string | string[] | undefined>

/** The value of a query parameter. If it is repeated, the last one counts. */
export function lastValue(values: string | string[] | undefined): string | undefined {
  return Array.isArray(values) ? values.at(-1) : values
}

/** A numeric id from the path. Anything else is a 404, like an unknown id. */
export function idParameter(params: unknown, name: string): number {
  const { [name]: text = '' } = params as Record<string, string>
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound()
  return Number(text)
}

/** A public ID from the path, such as `alr_…`. Anything else is a 404, like an unknown ID. */
export function publicIdParameter(params: unknown, name: string, prefix: 'alr' | 'msg' | 'trl' | 'src'): string {
  const { [name]: text = '' } = params as Record<string, string>
  if (!/^[a-z]{3}_[0-9A-Za-z]{24}$/.test(text) || !text.startsWith(prefix)) throw notFound()
  return text
}

/** A time from the query, or null if absent. */
export function timeParameter(query: Query, name: string): Instant | null {
  const text = lastValue(query[name])
  return text === undefined ? null : parseTime(name, text)
}

/** A positive integer from the query, or null if absent. */
export function integerParameter(query: Query, name: string): number | null {
  const text = lastValue(query[name])
  if (text === undefined) return null
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalid(`${name} must be a positive integer`)
  return Number(text)
}

/** One of `values` from the query, or null if absent. */
export function enumParameter<const Value extends string>(
  query: Query,
  name: string,
  values: readonly Value[],
): Value | null {
  const text = lastValue(query[name])
  if (text === undefined) return null
  const value = values.find((value) => value === text)
  if (value === undefined) throw invalid(`${name} must be one of ${values.join(', ')}`)
  return value
}

/** For how long the body of a rotation, which may be left out, keeps the old secret valid. */
export function overlapMs(body: unknown): number {
  const { overlap_hours: hours = defaultOverlapHours } = (body ?? {}) as OverlapBody
  return hours * hour
}

/** Rejects a range that is empty or ends before it starts. */
export function checkTimeRange(
  [fromName, from]: [string, Instant | null],
  [toName, to]: [string, Instant | null],
): void {
  if (from !== null && to !== null && to <= from) throw invalid(`${toName} must be later than ${fromName}`)
}
