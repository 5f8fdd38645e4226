import { isDelivered } from '../delivery/settings.ts'
import type { DeploymentStore } from '../deployments/deployment.ts'
import { timedChanges } from '../history/change.ts'
import { stateOf } from '../history/pull.ts'
import { liveHistory, liveUntil } from '../impact/live/live-window.ts'
import { lineOf } from '../impact/reading/vote-history.ts'
import type { Prompt } from '../prompt.ts'
import type { Store } from '../store.ts'
import { day, hour, type Instant } from '../time.ts'
import type { Arm } from './assignment.ts'
import {
  addVotes,
  differenceOfTrial,
  startEvidence,
  type TrialEvidence,
  verdictOfTrial,
  votesUntilVerdict,
} from './e-process.ts'
import type { TrialFindings } from './findings.ts'
import { type ArmCounts, hasShareMismatch } from './share-check.ts'
import { emptyArms, type Trial, type TrialChange, type TrialEnding, type TrialEvent, type TrialVote } from './trial.ts'

export type TrialStores = Pick<Store, 'trials' | 'prompts' | 'history' | 'liveTexts' | 'repositories' | 'facts'> & {
  deployments: Pick<DeploymentStore, 'line' | 'promptLine' | 'places'>
}

// Trials are decided long before. Bounds the memory and the time of a look.
const maxVotes = 100_000
// Those who vote soon after the start, or after a change of the share, may have been served before it.
const settlingMs = hour

/** Looks at a trial: stores what its votes say, ends it if it is over or worse, and raises its share if a ramp is due. */
export async function judgeTrial(stores: TrialStores, trial: Trial, now: Instant): Promise<Trial | null> {
  const prompts = await stores.prompts.withIds(
    trial.organisationId,
    trial.prompts.map(({ prompt }) => prompt.id),
  )
  const ending = await endingOf(stores, trial, prompts)
  if (ending !== null) return stores.trials.change(trial, { ending }, ['stopped'], now)
  const { findings, verdict, mismatch, votesAtShare } = await lookAt(stores, trial, prompts, now)
  const change: TrialChange = { findings }
  const events: TrialEvent[] = []
  if (mismatch && !trial.mismatch) {
    change.mismatch = true
    events.push('mismatch')
  }
  // What was better can still become worse, and is stopped then too.
  const isNew = trial.verdict === null || (trial.verdict === 'better' && verdict === 'worse')
  if (!mismatch && verdict !== 'undecided' && isNew) {
    change.verdict = verdict
    events.push(verdict)
    if (verdict === 'worse') change.ending = 'worse'
  }
  const next = nextShare(trial, votesAtShare)
  if (next !== null && !mismatch && verdict !== 'worse') change.share = next
  if (events.length === 0 && change.share === undefined && isSame(findings, trial.findings)) return trial
  return stores.trials.change(trial, change, events, now)
}

/** Why the trial is over; null if it is not. */
async function endingOf(stores: TrialStores, trial: Trial, prompts: Prompt[]): Promise<TrialEnding | null> {
  const { organisationId } = trial
  const settings = await stores.liveTexts.settings(organisationId)
  const isGone = prompts.length < trial.prompts.length || prompts.some((prompt) => !isDelivered(settings, prompt))
  if (isGone || !settings.enabled) return 'gone'
  if (trial.prNumber !== null) {
    const repository = await stores.repositories.find(trial.repositoryId)
    const [pull] = repository === null ? [] : await stores.facts.pulls(repository, [trial.prNumber])
    const state = pull === undefined ? 'open' : stateOf(pull)
    if (state !== 'open') return state === 'merged' ? 'live' : 'closed'
  }
  const live = new Map((await stores.liveTexts.versions(organisationId)).map(({ promptId, blob }) => [promptId, blob]))
  return trial.prompts.every(({ prompt, blob }) => live.get(prompt.id) === blob) ? 'live' : null
}

interface Look {
  findings: TrialFindings
  verdict: ReturnType<typeof verdictOfTrial>
  mismatch: boolean
  /** Votes since the share was changed last. */
  votesAtShare: number
}

async function lookAt(stores: TrialStores, trial: Trial, prompts: Prompt[], now: Instant): Promise<Look> {
  const { organisationId, commitSha, startedAt } = trial
  const controls = await liveVersions(stores, prompts, startedAt, now)
  controls.delete(commitSha)
  const [votes, exposures] = await Promise.all([
    stores.trials.votes(
      organisationId,
      prompts.map(({ id }) => id),
      [commitSha, ...controls],
      startedAt,
      maxVotes,
    ),
    stores.trials.exposures(trial),
  ])
  const counted = firstVotes(votes)
  const armOf = ({ version }: TrialVote): Arm => (version === commitSha ? 'candidate' : 'control')
  const evidence = startEvidence()
  const arms = emptyArms(() => ({ exposures: 0, voters: 0, positive: 0 }))
  const voters = new Map<number, ArmCounts>()
  for (const vote of counted) {
    const arm = armOf(vote)
    const { share, from } = shareAt(trial, vote.createdAt)
    arms[arm].voters++
    if (vote.isPositive) arms[arm].positive++
    addVote(evidence, share, arm, vote.isPositive)
    if (vote.createdAt < from + settlingMs) continue
    const counts = voters.get(share) ?? { share, control: 0, candidate: 0 }
    counts[arm]++
    voters.set(share, counts)
  }
  for (const { control, candidate } of exposures) {
    arms.control.exposures += control
    arms.candidate.exposures += candidate
  }
  const difference = differenceOfTrial(evidence)
  const mismatch =
    trial.mismatch || hasShareMismatch([...voters.values()]) || hasShareMismatch(exposures.map(countedOnce))
  const verdict = verdictOfTrial(evidence)
  const { from } = shareAt(trial, now)
  return {
    verdict,
    mismatch,
    votesAtShare: counted.filter(({ createdAt }) => createdAt >= from).length,
    findings: {
      judgedAt: now,
      arms,
      difference: difference?.difference ?? null,
      interval: difference?.interval ?? null,
      daysLeft: verdict === 'undecided' ? daysLeft(trial, evidence, difference?.difference ?? 0, counted, now) : null,
    },
  }
}

/** Everyone counts once: the arm of a second vote is no longer random. */
function firstVotes(votes: TrialVote[]): TrialVote[] {
  const seen = new Set<string>()
  return votes.filter(({ voter }) => !seen.has(voter) && seen.add(voter))
}

function addVote(evidence: TrialEvidence, share: number, arm: Arm, isPositive: boolean): void {
  const votes = emptyArms(() => ({ positive: 0, negative: 0 }))
  votes[arm][isPositive ? 'positive' : 'negative'] = 1
  addVotes(evidence, share, votes)
}

/**
 * Each process counts a unit once, so several may count the same one. Divided by the number of processes no unit weighs more than one,
 * and the check raises no more false alarms than promised: docs/decisions/0109.
 */
function countedOnce({ share, control, candidate, sources }: ArmCounts & { sources: number }): ArmCounts {
  return { share, control: control / sources, candidate: candidate / sources }
}

function shareAt({ shares }: Trial, at: Instant): { share: number; from: Instant } {
  return shares.findLast(({ from }) => from <= at) ?? (shares[0] as Trial['shares'][number])
}

/** The commits that were live for one of the prompts since then. Votes name them. */
async function liveVersions(
  stores: TrialStores,
  prompts: Prompt[],
  since: Instant,
  now: Instant,
): Promise<Set<string>> {
  const versions = new Set<string>()
  for (const prompt of prompts) {
    const [segments, landed] = await Promise.all([lineOf(stores, prompt), stores.history.landedChanges(prompt)])
    for (const period of liveHistory(timedChanges(landed, now), segments).periods.values()) {
      if ((liveUntil(period) ?? now) >= since) versions.add(period.change.commitSha)
    }
  }
  return versions
}

/** At the traffic of the last day, or since the start if that is less. */
function daysLeft(
  trial: Trial,
  evidence: TrialEvidence,
  difference: number,
  votes: TrialVote[],
  now: Instant,
): number | null {
  const since = Math.max(trial.startedAt, now - day)
  const days = (now - since) / day
  const recent = votes.filter(({ createdAt }) => createdAt >= since).length
  const needed = votesUntilVerdict(evidence, shareAt(trial, now).share, difference)
  if (needed === null || recent === 0 || days === 0) return null
  return Math.round((10 * needed * days) / recent) / 10
}

function nextShare({ state, ramp, share }: Trial, votesAtShare: number): number | null {
  if (state !== 'running' || ramp === null || votesAtShare < ramp.votes) return null
  return ramp.shares.find((next) => next > share) ?? null
}

/** Whether nothing but the time has changed, and the days that are left with it. */
function isSame(findings: TrialFindings, before: TrialFindings | null): boolean {
  return before !== null && JSON.stringify(findings.arms) === JSON.stringify(before.arms)
}
