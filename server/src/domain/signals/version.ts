import { invalidField } from '../errors.ts'
import { isLongerThan } from '../text.ts'

/**
 * A version of a prompt that produced an output, in the form that is stored: `8f3a1c5` (a commit SHA or the start of one),
 * `#123` (a history entry) or `:v2` (a label from metadata, which we cannot interpret). The three cannot be confused. Whether a
 * version is known is decided when it is read: the next sync may bring the commit.
 */
export type VersionText = string

type Version = { kind: 'commit'; sha: string } | { kind: 'entry'; id: number } | { kind: 'label'; label: string }

/** Where OpenTelemetry puts the version of a prompt. */
export const versionMember = 'gen_ai.prompt.version'

/** The lengths of the shortest abbreviation and of a full SHA. */
export const minShaLength = 7
export const shaLength = 40

const commitSha = /^[0-9a-f]{7,40}$/i
/** Of the texts that applications choose to refer to things: a version, a subject, a voter. */
export const maxLabelLength = 255
const control = /\p{Cc}/u

/** Reads the field `version`: a commit SHA of 7 to 40 digits, or the ID of a history entry. */
export function validVersion(version: string | number): VersionText {
  if (typeof version === 'string' && commitSha.test(version)) return version.toLowerCase()
  if (typeof version === 'number' && Number.isSafeInteger(version) && version > 0) return entryVersion(version)
  throw invalidField('version', 'must be a commit SHA of 7 to 40 hexadecimal digits, or the ID of a history entry')
}

/** Reads a version from metadata. Other systems number versions as they like, so an integer is a label and no history entry. */
export function labelledVersion(member: unknown): VersionText | null {
  if (typeof member === 'number') return Number.isSafeInteger(member) ? `:${member}` : null
  if (typeof member !== 'string' || member === '' || isLongerThan(member, maxLabelLength)) return null
  if (control.test(member) || !member.isWellFormed()) return null
  return commitSha.test(member) ? member.toLowerCase() : `:${member}`
}

export function entryVersion(id: number): VersionText {
  return `#${id}`
}

/** Whether the text is a version in the form that is stored. */
export function isVersionText(text: string): boolean {
  if (/^#[1-9]\d{0,14}$/.test(text)) return true
  if (text.startsWith(':')) return labelledVersion(text.slice(1)) !== null
  return commitSha.test(text) && text === text.toLowerCase()
}

export function parseVersion(text: VersionText): Version {
  if (text.startsWith('#')) return { kind: 'entry', id: Number(text.slice(1)) }
  if (text.startsWith(':')) return { kind: 'label', label: text.slice(1) }
  return { kind: 'commit', sha: text }
}

/** The version as it was sent. */
export function sentVersion(text: VersionText): string | number {
  const version = parseVersion(text)
  if (version.kind === 'entry') return version.id
  return version.kind === 'commit' ? version.sha : version.label
}

/**
 * Reads a version from a query: what was sent, or `#123` for a history entry and `:v2` for a label where that could be taken for
 * something else.
 */
export function queriedVersion(text: string): VersionText {
  const [, entryId] = /^#?([1-9]\d{0,14})$/.exec(text) ?? []
  if (commitSha.test(text)) return text.toLowerCase()
  if (entryId !== undefined) return entryVersion(Number(entryId))
  const version = labelledVersion(text.startsWith(':') ? text.slice(1) : text)
  if (version === null) throw invalidField('version', 'must be a commit SHA, the ID of a history entry or a label')
  return version
}
