import type { Tally } from '../signals/tally.ts'
import { day, hour, type Instant } from '../time.ts'
import type { Arm } from './assignment.ts'
import {
  addVotes,
  daysUntilVerdict,
  differenceOfTrial,
  startEvidence,
  type TrialEvidence,
  type TrialVerdict,
  verdictOfTrial,
} from './e-process.ts'
import { judgeExposures } from './exposures.ts'
import { hasShareMismatch } from './share-check.ts'
import {
  emptyArms,
  type KeyExposures,
  type Trial,
  type TrialFindings,
  type TrialProgress,
  type TrialVote,
} from './trial.ts'

// Those who vote soon after the start, or after a change of the share, may have been served before it.
const settlingMs = hour
const maxHours = 26

/** The votes on the live version before the trial tell which rate to expect. */
export function startProgress(trial: Trial, before: Tally): TrialProgress {
  const start = { at: trial.startedAt, id: 0 }
  return {
    read: start,
    isAtEnd: false,
    late: null,
    searchedAt: trial.startedAt,
    evidence: startEvidence(before),
    arms: emptyArms(() => ({ voters: 0, positive: 0 })),
    voters: [],
    atShare: { from: trial.startedAt, votes: 0 },
    hours: [],
  }
}

/** Counts the first vote of a voter. */
export function countVote(progress: TrialProgress, trial: Trial, vote: TrialVote, now: Instant): void {
  const arm = armOfVote(trial, vote)
  const { share, from } = shareAt(trial, vote.at)
  progress.arms[arm].voters++
  if (vote.isPositive) progress.arms[arm].positive++
  addVote(progress.evidence, share, arm, vote.isPositive)
  const current = shareAt(trial, now).from
  if (progress.atShare.from !== current) progress.atShare = { from: current, votes: 0 }
  if (vote.at >= current) progress.atShare.votes++
  countHour(progress, vote.at)
  if (vote.at < from + settlingMs) return
  let counts = progress.voters.find((each) => each.share === share)
  if (counts === undefined) {
    counts = { share, control: 0, candidate: 0 }
    progress.voters.push(counts)
  }
  counts[arm]++
}

export function armOfVote({ commitSha }: Pick<Trial, 'commitSha'>, { version }: Pick<TrialVote, 'version'>): Arm {
  return version === commitSha ? 'candidate' : 'control'
}

export function addVote(evidence: TrialEvidence, share: number, arm: Arm, isPositive: boolean): void {
  const votes = emptyArms(() => ({ positive: 0, negative: 0 }))
  votes[arm][isPositive ? 'positive' : 'negative'] = 1
  addVotes(evidence, share, votes)
}

export function shareAt({ shares }: Pick<Trial, 'shares'>, at: Instant): { share: number; from: Instant } {
  return shares.findLast(({ from }) => from <= at) ?? (shares[0] as Trial['shares'][number])
}

function countHour(progress: TrialProgress, at: Instant): void {
  const start = at - (at % hour)
  const known = progress.hours.find(([each]) => each === start)
  if (known !== undefined) known[1]++
  else progress.hours = [...progress.hours, [start, 1] as [number, number]].sort(([a], [b]) => a - b).slice(-maxHours)
}

interface TrialLook {
  findings: TrialFindings
  verdict: TrialVerdict
  votesAtShare: number
}

type Counts = Pick<TrialFindings, 'arms' | 'mismatch'>

/** What was counted, and whether it came in the promised share. */
export function countsOf(
  { findings }: Trial,
  { arms, voters }: TrialProgress,
  exposures: readonly KeyExposures[],
): Counts {
  const { counted, isMismatch } = judgeExposures(exposures, arms.control.voters + arms.candidate.voters)
  const sumOf = (arm: Arm) => ({ exposures: counted.reduce((sum, each) => sum + each[arm], 0), ...arms[arm] })
  // Whatever moved the voters is in the votes that are counted. Exposures decide nothing but this.
  const isOfVoters = findings?.mismatch === 'voters' || hasShareMismatch(voters)
  return {
    arms: { control: sumOf('control'), candidate: sumOf('candidate') },
    mismatch: isOfVoters ? 'voters' : isMismatch ? 'exposures' : null,
  }
}

/** What the counts say. */
export function lookAt(trial: Trial, progress: TrialProgress, counts: Counts, now: Instant): TrialLook {
  const { evidence, atShare, hours } = progress
  const mismatch = counts.mismatch !== null
  const verdict = verdictOfTrial(evidence)
  // Both rely on the promised share.
  const difference = mismatch ? null : differenceOfTrial(evidence)
  const { share, from } = shareAt(trial, now)
  const since = Math.max(trial.startedAt, now - day)
  const recent = hours.reduce((sum, [start, votes]) => (start + hour > since ? sum + votes : sum), 0)
  // The votes of the first minutes say little about a day.
  const days = daysUntilVerdict(evidence, share, (recent * day) / Math.max(hour, now - since))
  const isOpen = verdict === 'undecided' && !mismatch
  return {
    verdict,
    votesAtShare: atShare.from === from ? atShare.votes : 0,
    findings: {
      judgedAt: now,
      ...counts,
      difference: difference?.difference ?? null,
      interval: difference?.interval ?? null,
      daysLeft: isOpen && days !== null ? Math.round(10 * days) / 10 : null,
    },
  }
}
