import type { Access } from '../access/api-key.ts'
import type { Actor } from '../access/audit.ts'
import { invalidField } from '../errors.ts'
import { delay, type Instant } from '../time.ts'
import { canonicalJson, forEachMember, hasMembers } from './json-text.ts'

/** Selects the signals to erase by their metadata. */
export interface MetadataQuery {
  /** A substring of all matching metadata without a backslash. Lets the database skip most signals. */
  prefilter: string
  matches(metadata: string): boolean
}

/** Selects the signals of one person, by the hash of who voted. */
export interface VoterQuery {
  voter: string
}

/** Selects the votes on one subject, of any prompt, withdrawn ones included. */
export interface SubjectQuery {
  subject: string
}

export type ErasureQuery = MetadataQuery | VoterQuery | SubjectQuery

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
  eraseNextBatch(erasure: Erasure, query: ErasureQuery): Promise<Erasure>
  /** The same, but only counts the signals that would be erased. */
  countNextBatch(erasure: Erasure, query: ErasureQuery): Promise<Erasure>
}

// Bounds the cost of one comparison. A person is identified by one or two members.
const maxQueryMembers = 16

/** Matches metadata that contains every member of the given JSON object with an equal value. */
export function metadataQuery(text: string): MetadataQuery {
  const wanted = new Map<string, string>()
  forEachMember(text, (name, value) => wanted.set(name, value))
  if (wanted.size === 0) throw invalidField('metadata', 'must have at least one member')
  if (wanted.size > maxQueryMembers) {
    throw invalidField('metadata', `must have at most ${maxQueryMembers} members in an erasure`)
  }
  for (const [name, value] of wanted) wanted.set(name, canonicalJson(value))
  const values = new Map([...wanted].map(([name, value]) => [name, new Set([value])]))
  return { prefilter: prefilterOf(wanted), matches: (metadata) => hasMembers(metadata, values) }
}

/**
 * The longest string value in quotes, or the longest member name if no value is a string. Names are less selective. Metadata
 * without a backslash contains this text literally.
 */
function prefilterOf(wanted: Map<string, string>): string {
  const texts = [...wanted.values()].filter((value) => value.startsWith('"'))
  const strings = texts.length > 0 ? texts : [...wanted.keys()].map((name) => JSON.stringify(name))
  const [longest = ''] = strings.sort((a, b) => b.length - a.length)
  return longest
}

export function startErasure(organisationId: number, by: Actor, at: Instant): Erasure {
  const last = { promptId: 0, createdAt: 0, id: 0 }
  return { organisationId, by, at, last, found: [], erased: 0, done: false }
}

// SQLite runs each batch synchronously. Pausing in between lets signal writes through.
const workMs = 5
const pauseMs = 2

/**
 * Erases the matching signals among all that exist now and returns how many. An interrupted erasure can simply be run again.
 */
export function eraseSignals(
  signals: ErasureStore,
  access: Pick<Access, 'organisationId' | 'keyId'>,
  query: ErasureQuery,
  now: Instant,
): Promise<number> {
  return inBatches(startErasure(access.organisationId, access, now), (erasure) =>
    signals.eraseNextBatch(erasure, query),
  )
}

/** How many signals an erasure would remove. `isWanted` stops a count whose client is gone. */
export function countErasure(
  signals: ErasureStore,
  access: Pick<Access, 'organisationId' | 'keyId'>,
  query: ErasureQuery,
  now: Instant,
  isWanted: () => boolean,
): Promise<number> {
  return inBatches(startErasure(access.organisationId, access, now), async (erasure) => {
    const next = await signals.countNextBatch(erasure, query)
    return isWanted() ? next : { ...next, done: true }
  })
}

async function inBatches(start: Erasure, next: (erasure: Erasure) => Promise<Erasure>): Promise<number> {
  let erasure = start
  let pausedAt = performance.now()
  while (!erasure.done) {
    erasure = await next(erasure)
    if (performance.now() - pausedAt < workMs) continue
    await delay(pauseMs)
    pausedAt = performance.now()
  }
  return erasure.erased
}
