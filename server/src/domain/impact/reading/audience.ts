import type { VoteStore } from '../../signals/votes.ts'
import { modelKeys } from '../../telemetry/model-changes.ts'
import type { LivePeriod } from '../live/live-window.ts'
import type { Drift } from '../model/drift.ts'
import type { SegmentFinding } from '../model/segments.ts'
import { findingOf, modelChangesIn, readSegments } from './compared-segments.ts'
import type { SegmentStore } from './segment-keys.ts'
import type { VoteHistory } from './vote-history.ts'
import { createWindowMemory } from './window-memory.ts'
import { maxExaminedVotes } from './window-votes.ts'

export interface AudienceStores {
  signals: VoteStore
  segments: Pick<SegmentStore, 'ofPrompt'>
}

/** A change whose votes differ from those before it. */
export interface DifferingChange {
  history: VoteHistory
  before: LivePeriod
  after: LivePeriod
  /** Of both together. */
  votes: number
  drift: Readonly<Drift>
}

// Bounds the time of one request. Changes beyond it are judged without segments until a later request reads them.
const maxVotesPerRequest = 10 * maxExaminedVotes

const found = createWindowMemory<SegmentFinding[]>()

/** What the declared segments of their prompts say about these changes. Empty for a prompt without any. */
export async function audienceOf(
  { signals, segments }: AudienceStores,
  changes: readonly DifferingChange[],
  maxVotes = maxVotesPerRequest,
): Promise<SegmentFinding[][]> {
  const histories = [...new Set(changes.map(({ history }) => history))]
  const keys = await Promise.all(histories.map(async ({ prompt }) => (await segments.ofPrompt(prompt)).keys))
  const keysOf = new Map(histories.map((history, i) => [history, keys[i] ?? []]))
  const findings: SegmentFinding[][] = []
  let left = maxVotes
  for (const { history, before, after, votes, drift } of changes) {
    const { prompt, moment } = history
    const keys = keysOf.get(history) ?? []
    const memoryKey = `${prompt.id} ${after.change.id} ${JSON.stringify(keys)}`
    let finding = moment.isPast ? null : found.recall(signals, memoryKey, votes)
    if (finding === null && keys.length > 0 && left > 0) {
      const sides = await readSegments(signals, history, { before, after }, keys)
      finding = [...sides].map(([key, each]) => ({
        ...findingOf(key, each, drift),
        ...(modelKeys.includes(key) && { models: modelChangesIn(each) }),
      }))
      left -= Math.min(votes, 2 * maxExaminedVotes)
      if (!moment.isPast) found.remember(signals, memoryKey, votes, finding)
    }
    findings.push(finding ?? [])
  }
  return findings
}
