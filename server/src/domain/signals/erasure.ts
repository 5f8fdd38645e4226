import type { Access } from '../access/api-key.ts'
import type { Actor } from '../access/audit.ts'
import { invalidField } from '../errors.ts'
import { delay, type Instant } from '../time.ts'
import { canonicalJson, memberText, memberTexts } from './json-text.ts'

/** Selects the signals to erase by their metadata. */
export interface MetadataQuery {
  /** A substring of all matching metadata without a backslash. Lets the database skip most signals. */
  prefilter: string
  matches(metadata: string): boolean
}

export interface SignalPosition {
  promptId: number
  createdAt: Instant
  id: number
}

/** An erasure in progress. It scans all signals of an organisation in key order. */
export interface Erasure {
  organisationId: number
  by: Actor
  at: Instant
  /** The last signal that was checked. */
  last: SignalPosition
  /** Matching signals that are still stored, in the order of the scan. They are erased together, with one audit entry. */
  found: SignalPosition[]
  erased: number
  done: boolean
}

export interface ErasureStore {
  /**
   * Checks the next batch. Once there are 1,000 matching signals, or at the end, erases them from all stats except the month's
   * usage, and records in the audit log how many there were. Their idempotency keys stay, so a repeated request does not record
   * the signal again.
   */
  eraseNextBatch(erasure: Erasure, query: MetadataQuery): Promise<Erasure>
}

/** Matches metadata that contains every member of the given JSON object with an equal value. */
export function metadataQuery(text: string): MetadataQuery {
  const object: object = JSON.parse(text)
  const members = Object.entries(object).map(([name, value]: [string, unknown]) => ({
    name,
    value,
    canonical: canonicalJson(memberText(text, name) as string),
  }))
  if (members.length === 0) throw invalidField('metadata', 'must have at least one member')
  return {
    prefilter: prefilterOf(members),
    matches(metadata) {
      const parsed: Record<string, unknown> = JSON.parse(metadata)
      return members.every(({ name, value, canonical }) => {
        if (!Object.hasOwn(parsed, name)) return false
        if (typeof value === 'string' && parsed[name] === value) return true
        // JSON.parse keeps only the last of repeated members, but all of them are stored and exported.
        return memberTexts(metadata, name).some((text) => canonicalJson(text) === canonical)
      })
    },
  }
}

/**
 * The longest string value in quotes, or the longest member name if no value is a string. Names are less selective. Metadata
 * without a backslash contains this text literally.
 */
function prefilterOf(members: { name: string; value: unknown }[]): string {
  const texts = members.map(({ value }) => value).filter((value) => typeof value === 'string')
  const strings = texts.length > 0 ? texts : members.map(({ name }) => name)
  const [longest = ''] = strings.map((text) => JSON.stringify(text)).sort((a, b) => b.length - a.length)
  return longest
}

export function startErasure(organisationId: number, by: Actor, at: Instant): Erasure {
  const last = { promptId: 0, createdAt: 0, id: 0 }
  return { organisationId, by, at, last, found: [], erased: 0, done: false }
}

// SQLite runs each batch synchronously. Pausing in between lets signal writes through.
const pauseMs = 2

/**
 * Erases the matching signals among all that exist now and returns how many. An interrupted erasure can simply be run again.
 */
export async function eraseSignals(
  signals: ErasureStore,
  access: Pick<Access, 'organisationId' | 'keyId'>,
  query: MetadataQuery,
  now: Instant,
): Promise<number> {
  let erasure = startErasure(access.organisationId, access, now)
  while (!erasure.done) {
    erasure = await signals.eraseNextBatch(erasure, query)
    await delay(pauseMs)
  }
  return erasure.erased
}
