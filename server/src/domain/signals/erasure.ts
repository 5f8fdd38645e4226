import type { Access } from '../access/api-key.ts'
import type { Actor } from '../access/audit.ts'
import { invalid } from '../errors.ts'
import type { Instant } from '../time.ts'
import { canonicalJson, memberText, memberTexts } from './json-text.ts'

/** What the metadata of signals must have to be erased. */
export interface MetadataQuery {
  /** Part of every text that fits, unless that has a backslash. Lets the database pass over most. */
  prefilter: string
  matches(metadata: string): boolean
}

/** An erasing under way, which goes through all signals of an organisation in the order of their keys. */
export interface Erasure {
  organisationId: number
  /** The entry of the audit that says how many are erased. */
  auditId: number
  /** The last signal that was looked at. */
  last: { promptId: number; createdAt: Instant; id: number }
  erased: number
  done: boolean
}

export interface ErasureStore {
  beginErasure(organisationId: number, by: Actor, at: Instant): Promise<Erasure>
  /**
   * Looks at the next few signals and takes those that fit out of every figure but the month's usage. What idempotency keys
   * know stays, so that a request that is repeated does not bring its signal back.
   */
  eraseNext(erasure: Erasure, sought: MetadataQuery): Promise<Erasure>
}

/** What is sought by the text of a JSON object: metadata that have each of its members, with an equal value. */
export function metadataQuery(text: string): MetadataQuery {
  const object: object = JSON.parse(text)
  const members = Object.entries(object).map(([name, value]: [string, unknown]) => ({
    name,
    value,
    canonical: canonicalJson(memberText(text, name) as string),
  }))
  if (members.length === 0) throw invalid('metadata must have at least one member')
  return {
    prefilter: prefilterOf(members),
    matches(metadata) {
      const found: Record<string, unknown> = JSON.parse(metadata)
      return members.every(({ name, value, canonical }) => {
        if (!Object.hasOwn(found, name)) return false
        if (typeof value === 'string' && found[name] === value) return true
        // Of a name that stands there twice JSON.parse knows the last. The others are stored, and exported, all the same.
        return memberTexts(metadata, name).some((text) => canonicalJson(text) === canonical)
      })
    },
  }
}

/**
 * The longest text among the values, in quotes, or where there is none, the longest name, which many more have. Metadata
 * without a backslash writes it as it is; one that needs a backslash is in none of those.
 */
function prefilterOf(members: { name: string; value: unknown }[]): string {
  const texts = members.map(({ value }) => value).filter((value) => typeof value === 'string')
  const strings = texts.length > 0 ? texts : members.map(({ name }) => name)
  const [longest = ''] = strings.map((text) => JSON.stringify(text)).sort((a, b) => b.length - a.length)
  return longest
}

// An embedded database answers at once: those who record would hardly get a turn.
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2))
}

/** Erases what fits among all signals that are there by now, and gives how many. Whoever is interrupted does it again. */
export async function eraseSignals(
  signals: ErasureStore,
  access: Pick<Access, 'organisationId' | 'keyId'>,
  sought: MetadataQuery,
  now: Instant,
): Promise<number> {
  let erasure = await signals.beginErasure(access.organisationId, access, now)
  while (!erasure.done) {
    erasure = await signals.eraseNext(erasure, sought)
    await pause()
  }
  return erasure.erased
}
