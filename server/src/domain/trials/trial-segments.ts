import { discoveries } from '../impact/model/e-values.ts'
import type { Difference } from '../impact/model/verdict.ts'
import { type SegmentValue, segmentValueOf } from '../impact/reading/segment-votes.ts'
import { createTurns } from '../time.ts'
import type { Arm } from './assignment.ts'
import { addVote, armOfVote, shareAt } from './count-votes.ts'
import { differenceOfTrial, logCapital, startEvidence, type TrialEvidence } from './e-process.ts'
import { emptyArms, type Trial, type TrialStore, type TrialVote, type VotePosition } from './trial.ts'

/** A trial among the voters with one value of a key of the metadata. */
interface TrialSegment {
  value: SegmentValue
  /** Whether it pools all values beyond the first 20. */
  isOther: boolean
  arms: Record<Arm, { voters: number; positive: number }>
  difference: Difference | null
  verdict: 'better' | 'worse' | null
}

export interface TrialSegments {
  key: string
  segments: TrialSegment[]
  /** Whether all votes were examined. */
  isComplete: boolean
}

// As for changes.
const maxVotes = 40_000
const maxSegments = 20
// Metadata can have some kilobytes.
const pageSize = 1_000

type SegmentVote = Pick<TrialVote, 'isPositive' | 'version' | 'at'>

/** Judges a trial for each value of a key. At most 5% of those that are called better or worse are wrong on average, at any time. */
export async function segmentsOfTrial(
  store: Pick<TrialStore, 'votes'>,
  trial: Trial,
  key: string,
): Promise<TrialSegments> {
  const { byValue, isComplete } = await readSegments(store, trial, key)
  const largest = [...byValue].sort(([, a], [, b]) => b.length - a.length)
  const others = largest.splice(maxSegments).flatMap(([, votes]) => votes)
  const parts = largest.map(([value, votes]) => ({ value, isOther: false, votes }))
  if (others.length > 0) parts.push({ value: null, isOther: true, votes: others.sort((a, b) => a.at - b.at) })
  const takeTurns = createTurns()
  const judged: (Omit<TrialSegment, 'verdict'> & { evidence: TrialEvidence })[] = []
  for (const { value, isOther, votes } of parts) {
    const evidence = startEvidence()
    const arms = emptyArms(() => ({ voters: 0, positive: 0 }))
    for (const vote of votes) {
      const arm = armOfVote(trial, vote)
      arms[arm].voters++
      if (vote.isPositive) arms[arm].positive++
      addVote(evidence, shareAt(trial, vote.at).share, arm, vote.isPositive)
    }
    judged.push({ value, isOther, arms, evidence, difference: trial.mismatch ? null : differenceOfTrial(evidence) })
    await takeTurns()
  }
  const capitals = judged.map(({ evidence }) => logCapital(evidence))
  const isDiscovered = discoveries(capitals.map(({ both }) => both))
  const segments = judged.map(({ evidence: _, ...segment }, i) => {
    const { better, worse } = capitals[i] as (typeof capitals)[number]
    const isDecided = isDiscovered[i] === true && !trial.mismatch
    return { ...segment, verdict: isDecided ? (better > worse ? ('better' as const) : ('worse' as const)) : null }
  })
  return { key, segments, isComplete }
}

/** The first vote of each voter, by the value of the key. */
async function readSegments(store: Pick<TrialStore, 'votes'>, trial: Trial, key: string) {
  const byValue = new Map<SegmentValue, SegmentVote[]>()
  const seen = new Set<string>()
  let after: VotePosition = { at: trial.startedAt, id: 0 }
  for (let read = 0; read < maxVotes; read += pageSize) {
    const votes = await store.votes(trial, after, pageSize, { withMetadata: true })
    for (const { voter, metadata, isPositive, version, at } of votes) {
      if (seen.has(voter)) continue
      seen.add(voter)
      const value = segmentValueOf(metadata === null ? {} : (JSON.parse(metadata) as object), key)
      const ofValue = byValue.get(value) ?? []
      ofValue.push({ isPositive, version, at })
      byValue.set(value, ofValue)
    }
    if (votes.length < pageSize) return { byValue, isComplete: true }
    after = votes.at(-1) as VotePosition
  }
  return { byValue, isComplete: false }
}
