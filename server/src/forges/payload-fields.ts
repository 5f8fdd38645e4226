import type { Instant } from '../domain/time.ts'

/** Untrusted JSON of a delivery: every field is validated when it is read. */
export type Fields = Record<string, unknown>

const control = /\p{Cc}/gu
const sha = /^[0-9a-f]{7,64}$/
const zeros = /^0+$/
const maxNumber = 2 ** 31 - 1
const yearTenThousand = Date.UTC(10_000, 0)

// ISO 8601, and Ruby's format: 2023-12-05 18:43:00 UTC.
const timestamp = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d{1,9})? ?(Z|UTC|[+-]\d{2}:?\d{2})?$/

export function parseFields(body: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw new Error('the body must be JSON')
  }
  if (!isFields(value)) throw new Error('the body must be a JSON object')
  return value
}

/** The value at a path such as `pull_request.head.sha`; null if any part of it is missing. */
export function valueAt(fields: Fields, path: string): unknown {
  let value: unknown = fields
  for (const name of path.split('.')) {
    if (!isFields(value) || !Object.hasOwn(value, name)) return null
    value = value[name]
  }
  return value ?? null
}

export function text(fields: Fields, path: string): string {
  const value = valueAt(fields, path)
  if (typeof value !== 'string') throw new Error(`${path} must be a string`)
  return value
}

/** A string; null if missing or empty. */
export function optionalText(fields: Fields, path: string): string | null {
  return valueAt(fields, path) === null ? null : text(fields, path) || null
}

/** A line to display. Control characters are replaced: titles are untrusted, and not every database or terminal takes them. */
export function line(fields: Fields, path: string): string {
  return text(fields, path).toWellFormed().replace(control, ' ').trim()
}

/** The first of these that is not empty. GitLab replaces private values with the literal `[REDACTED]`. */
export function firstLine(fields: Fields, ...paths: string[]): string | null {
  for (const path of paths) {
    const value = valueAt(fields, path) === null ? '' : line(fields, path)
    if (value !== '' && value.toUpperCase() !== '[REDACTED]') return value
  }
  return null
}

export function refName(fields: Fields, path: string): string {
  const value = text(fields, path)
  if (value === '' || !value.isWellFormed() || value.search(control) !== -1) {
    throw new Error(`${path} must be a ref name`)
  }
  return value
}

export function optionalRefName(fields: Fields, path: string): string | null {
  return optionalText(fields, path) === null ? null : refName(fields, path)
}

export function flag(fields: Fields, path: string): boolean {
  const value = valueAt(fields, path)
  if (typeof value !== 'boolean') throw new Error(`${path} must be true or false`)
  return value
}

export function optionalInteger(fields: Fields, path: string): number | null {
  const value = valueAt(fields, path)
  if (value === null) return null
  if (!Number.isSafeInteger(value)) throw new Error(`${path} must be an integer`)
  return value as number
}

export function pullNumber(fields: Fields, path: string): number {
  const value = optionalInteger(fields, path)
  if (value === null || value < 1 || value > maxNumber) throw new Error(`${path} must be a positive integer`)
  return value
}

export function objects(fields: Fields, path: string): Fields[] {
  const value = valueAt(fields, path)
  if (!Array.isArray(value) || !value.every(isFields)) throw new Error(`${path} must be an array of objects`)
  return value
}

/** A commit hash in lower case, as git prints it. */
export function commit(fields: Fields, path: string): string {
  const value = text(fields, path).toLowerCase()
  if (!sha.test(value)) throw new Error(`${path} must be a commit hash of 7 to 64 hexadecimal digits`)
  return value
}

/** A commit hash; null if missing, empty or all zeros, which stands for "no commit" in a push. */
export function optionalCommit(fields: Fields, path: string): string | null {
  if (optionalText(fields, path) === null) return null
  const value = commit(fields, path)
  return zeros.test(value) ? null : value
}

export function time(fields: Fields, path: string): Instant {
  const match = timestamp.exec(text(fields, path))
  const [, day, clock, fraction = '', zone = 'Z'] = match ?? []
  const at = Date.parse(`${day}T${clock}${fraction}${zone === 'UTC' ? 'Z' : zone}`)
  if (Number.isNaN(at) || at < 0 || at >= yearTenThousand) throw new Error(`${path} must be a timestamp`)
  return at
}

export function optionalTime(fields: Fields, path: string): Instant | null {
  return valueAt(fields, path) === null ? null : time(fields, path)
}

/** The URL of a page. Other schemes, such as `javascript:`, would be dangerous as a link. */
export function webUrl(fields: Fields, path: string): string {
  const value = text(fields, path)
  if (!isWebUrl(value)) throw new Error(`${path} must be an http:// or https:// URL`)
  return value
}

/** The repository's page without a trailing slash; null if the delivery has none. */
export function repositoryUrl(fields: Fields, path: string): string | null {
  const value = valueAt(fields, path)
  if (typeof value !== 'string' || !isWebUrl(value)) return null
  let end = value.length
  while (value[end - 1] === '/') end -= 1
  return value.slice(0, end)
}

function isWebUrl(value: string): boolean {
  return /^https?:\/\//i.test(value) && !/[\s\p{Cc}]/u.test(value) && value.isWellFormed() && URL.canParse(value)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
