import type { PullEvent, PullEventKind } from '../domain/history/pull.ts'
import type { PushReport } from '../domain/history/report.ts'
import type { ReportedRepository } from '../domain/repositories/reported-repository.ts'
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

const maxNames = 100

/** A member of each object in a list, such as the names of labels. Null without a list. */
export function names(fields: Fields, path: string, member: string): string[] | null {
  const list = valueAt(fields, path)
  if (!Array.isArray(list)) return null
  return list
    .slice(0, maxNames)
    .flatMap((each) => (isFields(each) && typeof each[member] === 'string' ? [each[member]] : []))
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

export function optionalFlag(fields: Fields, path: string): boolean | null {
  return valueAt(fields, path) === null ? null : flag(fields, path)
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

const branchPrefix = 'refs/heads/'

/** A push to a branch, as most forges report it; nothing for one to a tag. */
export function pushOf(fields: Fields, ...pusherPaths: string[]): PushReport[] {
  const ref = refName(fields, 'ref')
  if (!ref.startsWith(branchPrefix)) return []
  return [
    {
      type: 'push',
      branch: ref.slice(branchPrefix.length),
      before: optionalCommit(fields, 'before'),
      after: optionalCommit(fields, 'after'),
      pusher: firstLine(fields, ...pusherPaths),
    },
  ]
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

/**
 * When a pull request was opened and when the event happened. Old versions of some forges do not send when it was opened. The
 * time of receipt stands in for it, unless the event itself is older.
 */
export function pullTimes(
  kind: PullEventKind,
  { created, happened, receivedAt }: { created: Instant | null; happened: Instant | null; receivedAt: Instant },
): { openedAt: Instant; event: Pick<PullEvent, 'at' | 'atReceipt'> } {
  const at = kind === 'opened' ? created : (happened ?? created)
  return {
    openedAt: created ?? Math.min(at ?? receivedAt, receivedAt),
    event: at === null ? { at: receivedAt, atReceipt: true } : { at },
  }
}

/** Says that the payload does not contain when the pull request was opened. */
export function missingTimeNote(fields: Fields, path: string): string | null {
  return valueAt(fields, path) === null ? `the payload has no ${path}: the time of receipt is used instead` : null
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

const maxIdentityLength = 1_000

/** The repository that a delivery is about. Parts that are missing or unusable are null, because no payload must fail over them. */
export function identity(
  fields: Fields,
  paths: { ids: string[]; fullName: string; webUrl: string },
): ReportedRepository {
  const id = paths.ids.map((path) => valueAt(fields, path)).find((value) => value !== null)
  const fullName = valueAt(fields, paths.fullName)
  const webUrl = repositoryUrl(fields, paths.webUrl)
  return {
    id: isShort(id) || Number.isSafeInteger(id) ? String(id) : null,
    fullName: isShort(fullName) ? fullName : null,
    webUrl: isShort(webUrl) ? webUrl : null,
  }
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxIdentityLength && value.search(control) === -1
}

function isWebUrl(value: string): boolean {
  return /^https?:\/\//i.test(value) && !/[\s\p{Cc}]/u.test(value) && value.isWellFormed() && URL.canParse(value)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
