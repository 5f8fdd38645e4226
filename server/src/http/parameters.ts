import { invalid, notFound } from '../domain/errors.ts'
import { type Instant, parseTime } from '../domain/time.ts'

export type Query = Record<string, string | string[] | undefined>

/** A parameter's value; of several, the last. */
export function lastOf(values: string | string[] | undefined): string | undefined {
  return Array.isArray(values) ? values.at(-1) : values
}

/** A number in a path; anything else names nothing. */
export function pathId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound()
  return Number(text)
}

/** A time in the query, null where there is none. */
export function timeParameter(query: Query, name: string): Instant | null {
  const text = lastOf(query[name])
  return text === undefined ? null : parseTime(name, text)
}

/** One of some words in the query, null where there is none. */
export function wordParameter<const Word extends string>(
  query: Query,
  name: string,
  words: readonly Word[],
): Word | null {
  const text = lastOf(query[name])
  if (text === undefined) return null
  const word = words.find((word) => word === text)
  if (word === undefined) throw invalid(`${name} must be one of ${words.join(', ')}`)
  return word
}

/** Refuses a span that ends before it begins. */
export function checkSpan([fromName, from]: [string, Instant | null], [toName, to]: [string, Instant | null]): void {
  if (from !== null && to !== null && to <= from) throw invalid(`${toName} must be later than ${fromName}`)
}
