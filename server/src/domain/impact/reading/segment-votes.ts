import type { Prompt } from '../../prompt.ts'
import type { VoteWindow } from '../../signals/signal.ts'
import type { Vote, VoteStore } from '../../signals/votes.ts'
import { isLongerThan } from '../../text.ts'
import { maxExaminedVotes, readVotes, type VoteOrder } from './window-votes.ts'

/** The value of a segment: a text, number or boolean as text. Null for signals without one, or with an object, array or null. */
export type SegmentValue = string | null

// A longer value counts as none: it is free text, and would have to be remembered and shown.
const maxValueLength = 200

/** The value of the member of the metadata that is the segment. */
export function segmentValueOf(members: object, key: string): SegmentValue {
  const value: unknown = Object.hasOwn(members, key) ? members[key as keyof typeof members] : null
  if (typeof value === 'object') return null
  const text = String(value)
  return isLongerThan(text, maxValueLength) ? null : text
}

/** For each key, the votes of each of its values, in the order of time. */
type VotesBySegment = Map<string, Map<SegmentValue, Vote[]>>

/** Reads the first votes of the window in the order, up to the limit of signals that may be examined. */
export async function segmentVotesOf(
  store: VoteStore,
  prompt: Prompt,
  window: VoteWindow,
  order: VoteOrder,
  keys: readonly string[],
): Promise<VotesBySegment> {
  const byKey: VotesBySegment = new Map(keys.map((key) => [key, new Map()]))
  const [only = ''] = keys.length === 1 ? keys : []
  for await (const batch of readVotes(store, prompt, window, order, maxExaminedVotes, only)) {
    for (const { metadata, ...vote } of batch) {
      const members = metadata === null ? {} : (JSON.parse(metadata) as object)
      // Keeping the metadata of all votes would take up to 16 MB.
      const withoutMetadata = { ...vote, metadata: null }
      for (const [key, byValue] of byKey) {
        const value = segmentValueOf(members, key)
        const votes = byValue.get(value)
        if (votes === undefined) byValue.set(value, [withoutMetadata])
        else votes.push(withoutMetadata)
      }
    }
  }
  if (order === 'newest') for (const byValue of byKey.values()) for (const votes of byValue.values()) votes.reverse()
  return byKey
}
