import { hash } from 'node:crypto'
import type { Instant } from '../time.ts'

/**
 * The part of an audit entry that its hash covers: everything except the ID of the row, which an import shifts. `details` is
 * the JSON text as stored.
 */
export interface ChainLink {
  organisationId: number
  /** 1 for the first entry of the organisation. */
  seq: number
  at: Instant
  keyId: number | null
  keyName: string | null
  action: string
  subjectId: string
  subjectName: string
  details: string | null
}

export type StoredLink = ChainLink & { hash: string }

/** The end of an organisation's chain: how many entries it has, and the hash of the last one. */
export interface ChainHead {
  entries: number
  hash: string
}

/** The head of a chain without entries. */
export const emptyChain: ChainHead = { entries: 0, hash: '' }

/** The first entry that does not fit. */
interface ChainBreak {
  seq: number
  problem: string
}

export interface ChainState extends ChainHead {
  brokenAt: ChainBreak | null
  /** Entries that an earlier version wrote, and that no process has chained yet. */
  unchained: number
}

/** An array as JSON, so that no text can pass for the boundary between two fields. */
export function linkHash(previous: string, link: ChainLink): string {
  const { organisationId, seq, at, keyId, keyName, action, subjectId, subjectName, details } = link
  const fields = [previous, organisationId, seq, at, keyId, keyName, action, subjectId, subjectName, details]
  return hash('sha256', JSON.stringify(fields), 'hex')
}

/**
 * Follows the chain from its first entry to the head. `links` are in order of `seq`, and none is later than the head. `known`
 * is a head from an earlier time.
 */
export async function findBreak(
  head: ChainHead,
  links: AsyncIterable<StoredLink[]>,
  known: ChainHead = emptyChain,
): Promise<ChainBreak | null> {
  let last = emptyChain
  for await (const batch of links) {
    for (const link of batch) {
      const seq = last.entries + 1
      if (link.seq !== seq) return { seq, problem: missing(seq, link.seq - 1) }
      if (link.hash !== linkHash(last.hash, link)) {
        return { seq, problem: 'does not match its hash: it was changed, or the entry before it' }
      }
      if (seq === known.entries && link.hash !== known.hash) {
        return { seq, problem: 'is not the one that was the head earlier' }
      }
      last = { entries: seq, hash: link.hash }
    }
  }
  const end = Math.max(head.entries, known.entries)
  if (last.entries < end) return { seq: last.entries + 1, problem: `${missing(last.entries + 1, end)} at the end` }
  if (last.hash !== head.hash) return { seq: last.entries, problem: 'is not the one that was written last' }
  return null
}

function missing(first: number, last: number): string {
  return first === last ? 'is missing' : `to ${last} are missing`
}
