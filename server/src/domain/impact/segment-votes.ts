import type { Prompt } from '../prompt.ts'
import type { Vote, VoteStore } from '../signals/votes.ts'
import type { Sum } from './blocks.ts'
import { maxExaminedVotes, readVotes, sumsOfVotes, type VoteOrder, type VoteWindow } from './window-votes.ts'

/** The value of a segment: a text, number or boolean as text. Null for signals without one, or with an object, array or null. */
export type SegmentValue = string | null

// A longer value counts as none: it is free text, and would have to be stored and shown.
const maxValueLength = 200

/** The value of the member of the metadata that is the segment. */
export function segmentValueOf(metadata: string | null, key: string): SegmentValue {
  if (metadata === null) return null
  const members = JSON.parse(metadata) as Record<string, unknown>
  const value = Object.hasOwn(members, key) ? members[key] : null
  if (typeof value === 'object') return null
  const text = String(value)
  return text.length > maxValueLength ? null : text
}

/** The sums of each segment of the window in order of time, from the first votes in the order that may be examined. */
export async function segmentSumsOf(
  store: VoteStore,
  prompt: Prompt,
  window: VoteWindow,
  order: VoteOrder,
  key: string,
): Promise<Map<SegmentValue, Sum[]>> {
  const bySegment = new Map<SegmentValue, Vote[]>()
  for await (const batch of readVotes(store, prompt, window, order, maxExaminedVotes, key)) {
    for (const { metadata, ...vote } of batch) {
      const value = segmentValueOf(metadata, key)
      const votes = bySegment.get(value) ?? []
      // Keeping the metadata of all votes would take up to 16 MB.
      votes.push({ ...vote, metadata: null })
      bySegment.set(value, votes)
    }
  }
  return new Map(
    [...bySegment].map(([value, votes]) => [value, sumsOfVotes(order === 'oldest' ? votes : votes.reverse())]),
  )
}
