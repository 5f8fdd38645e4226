import type { Actor } from '../access/audit.ts'
import type { Plan } from '../access/plan.ts'
import { DomainError, invalidField } from '../errors.ts'
import { randomBase62 } from '../random.ts'
import type { SecretPlace } from '../repositories/vault.ts'
import { validLine, validName } from '../text.ts'
import type { Instant } from '../time.ts'
import { validPath } from './json-path.ts'

/** The products whose events are understood. `webhook` is everything else: its settings say where the fields are. */
export const adapterNames = [
  'webhook',
  'slack',
  'langfuse',
  'langsmith',
  'posthog',
  'intercom',
  'zendesk',
  'open-webui',
  'librechat',
] as const

export type AdapterName = (typeof adapterNames)[number]

/** The products that generate the secret themselves. For all others, we do. */
const withOwnSecret: readonly AdapterName[] = ['slack', 'langfuse', 'intercom', 'zendesk']

export function hasOwnSecret(adapter: AdapterName): boolean {
  return withOwnSecret.includes(adapter)
}

/** The fields of an event that a mapping finds. `events` is where the events are, if a request has several. */
export const sourceFields = [
  'events',
  'prompt',
  'value',
  'subject',
  'voter',
  'version',
  'comment',
  'time',
  'id',
] as const

export type SourceField = (typeof sourceFields)[number]

/** What an organisation sets, on top of what its adapter knows. */
export interface SourceSettings {
  /** The ID, name or path of the prompt of events that name none. */
  prompt: string | null
  /** JSONPath of fields, instead of those of the adapter. */
  fields: Partial<Record<SourceField, string>>
  /** Values that mean a vote, before those that the adapter knows. Upper and lower case are the same. */
  positive: string[]
  negative: string[]
  /** Numbers above count as positive, those below as negative. Null if the adapter decides. */
  midpoint: number | null
  /** Where a source that is polled is read: the URL of its service, without a slash at the end. */
  baseUrl: string | null
  /** Only scores of this name are votes, where a source has several. */
  score: string | null
}

export const noSettings: SourceSettings = {
  prompt: null,
  fields: {},
  positive: [],
  negative: [],
  midpoint: null,
  baseUrl: null,
  score: null,
}

/** A product that sends feedback, which is recorded as signals. */
export interface Source {
  id: number
  organisationId: number
  /** Starts with `src_`. Part of the URL that receives events. */
  publicId: string
  name: string
  adapter: AdapterName
  settings: SourceSettings
  /** Authenticates requests. Null until the product has shown its signing secret. */
  sealedSecret: string | null
  createdAt: Instant
  counts: SourceCounts
  /** How far a source that is polled has been read. Null before the first time. */
  readUntil: Instant | null
}

/** What arrived so far, and what came last. */
export interface SourceCounts {
  received: number
  recorded: number
  rejected: number
  lastReceivedAt: Instant | null
  lastRecordedAt: Instant | null
  lastRejectedAt: Instant | null
  /** Why the last one was rejected. */
  lastRejection: string | null
}

export type NewSource = Omit<Source, 'id' | 'counts' | 'readUntil'> & {
  /** When to poll it first. Null for one that sends by itself. */
  pollAt: Instant | null
}

export type DuePoll = Pick<Source, 'id' | 'organisationId'>

type SourceChanges = Pick<Source, 'name' | 'settings' | 'sealedSecret'>

export interface SourceStore {
  list(organisationId: number): Promise<Source[]>
  find(organisationId: number, publicId: string): Promise<Source | null>
  /** For requests that a secret authenticates instead of a key, and for the CLI. */
  findInAnyOrganisation(publicId: string): Promise<(Source & { plan: Plan }) | null>
  /** Writes `source.added` to the audit log. Rejects with `tooManySources` if the organisation has `maxSources` already. */
  add(source: NewSource, by: Actor): Promise<Source>
  /** Writes `source.updated` to the audit log. Null if the source was removed meanwhile. */
  update(source: Source, changes: SourceChanges, at: Instant, by: Actor): Promise<Source | null>
  /** Writes `source.removed` to the audit log. */
  remove(source: Source, at: Instant, by: Actor): Promise<void>
  /** The source of each organisation whose poll is due for longest. */
  duePolls(now: Instant, limit: number): Promise<DuePoll[]>
  /** Null unless its poll is still due. No other process gets it until `until`. */
  claimPoll(source: DuePoll, now: Instant, until: Instant): Promise<(Source & { plan: Plan }) | null>
  continueAt(source: Source, place: { readUntil: Instant | null; pollAt: Instant }): Promise<void>
  /** Adds to what arrived. Times and the reason replace earlier ones, unless they are null. */
  count(source: Pick<Source, 'id' | 'organisationId'>, counts: SourceCounts): Promise<void>
}

export const maxSources = 50
export const maxSourceValues = 50

const maxReferenceLength = 1_000
const maxValueLength = 200
const maxSecretLength = 500

export function generateSourceId(): string {
  return `src_${randomBase62(24)}`
}

export function generateSourceSecret(): string {
  return `pls_${randomBase62(43)}`
}

export function sourcePlace({ publicId }: Pick<Source, 'publicId'>): SecretPlace {
  return { sourceId: publicId, kind: 'source_secret' }
}

export function validSourceName(name: string): string {
  return validName('name', name, 200)
}

/** A secret that a product generated. */
export function validSourceSecret(secret: string): string {
  return validLine('secret', secret.trim(), maxSecretLength)
}

/**
 * Checks the settings. A generic webhook must say where its value is, and what tells its events apart: a replayed event must not
 * count twice. Other adapters know that themselves, and null stands for any of them.
 */
export function validSettings(adapter: AdapterName | null, settings: SourceSettings): SourceSettings {
  const { prompt, fields, positive, negative, midpoint, baseUrl, score } = settings
  if (prompt !== null) validLine('prompt', prompt, maxReferenceLength)
  for (const [field, path] of Object.entries(fields)) validPath(`fields.${field}`, path)
  for (const [field, texts] of Object.entries({ positiveValues: positive, negativeValues: negative })) {
    if (texts.length > maxSourceValues) throw invalidField(field, `must be at most ${maxSourceValues}`)
    for (const text of texts) validLine(field, text, maxValueLength)
  }
  if (midpoint !== null && !Number.isFinite(midpoint)) throw invalidField('midpoint', 'must be a number')
  if (score !== null) validLine('score', score, maxValueLength)
  if (baseUrl !== null) validBaseUrl(baseUrl)
  if (adapter === 'langfuse' && baseUrl === null) throw invalidField('baseUrl', 'is required for langfuse')
  if (adapter !== 'webhook') return settings
  if (fields.value === undefined) throw invalidField('fields.value', 'is required for a webhook')
  if (fields.id === undefined && fields.subject === undefined) {
    throw invalidField('fields.id', 'or fields.subject is required, so that an event that is sent twice counts once')
  }
  if (fields.prompt === undefined && prompt === null) {
    throw invalidField('prompt', 'or fields.prompt is required')
  }
  return settings
}

/** The settings from their JSON text, or null if it is something else. */
export function decodeSettings(text: string): SourceSettings | null {
  try {
    const settings = { ...noSettings, ...(JSON.parse(text) as Partial<SourceSettings>) }
    const known: readonly string[] = sourceFields
    if (!Object.keys(settings.fields).every((field) => known.includes(field))) return null
    return validSettings(null, settings)
  } catch {
    return null
  }
}

/** Whether the host is public, and https, is checked for each request. */
function validBaseUrl(text: string): void {
  const url = URL.parse(validLine('baseUrl', text, maxReferenceLength))
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  if (!isPlain || url.username !== '' || url.password !== '' || text.endsWith('/')) {
    throw invalidField('baseUrl', 'must be a URL such as https://cloud.langfuse.com, without a slash at the end')
  }
}

export function tooManySources(): DomainError {
  const message = `This organisation already has ${maxSources} sources, the most it may have. Remove one first.`
  return new DomainError('conflict', message)
}
