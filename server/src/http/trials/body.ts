import type { TrialBody } from '../../../../contract/trials.ts'
import { isWebUrl } from '../../domain/history/entry.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { webUrlOf } from '../../domain/repositories/repository-url.ts'
import { isoTime } from '../../domain/time.ts'
import type { ArmFindings, Trial } from '../../domain/trials/trial.ts'
import type { TrialSegments } from '../../domain/trials/trial-segments.ts'
import { forgeOf } from '../../forges/index.ts'
import { rounded } from '../impact/body.ts'

/** `repository` is its own, or null if that is gone. */
export function toTrialBody(trial: Trial, repository: Repository | null): TrialBody {
  const { findings, mismatch } = trial
  const difference = mismatch ? null : (findings?.difference ?? null)
  const interval = mismatch ? null : (findings?.interval ?? null)
  return {
    id: trial.id,
    state: trial.state,
    ended_by: trial.ending,
    repository_id: trial.repositoryId,
    pr_number: trial.prNumber,
    pr_url: pullUrlOf(repository, trial.prNumber),
    commit_sha: trial.commitSha,
    prompts: trial.prompts.map(({ prompt }) => ({ id: prompt.publicId, name: prompt.name })),
    share: trial.share,
    ramp: trial.ramp,
    verdict: trial.verdict,
    mismatch,
    control: toArmBody(findings?.arms.control),
    candidate: toArmBody(findings?.arms.candidate),
    difference: difference === null ? null : rounded(difference),
    interval: interval === null ? null : interval.map(rounded),
    days_left: findings?.daysLeft ?? null,
    started_by: trial.startedBy,
    started_at: isoTime(trial.startedAt),
    ended_at: trial.endedAt === null ? null : isoTime(trial.endedAt),
    judged_at: findings === null ? null : isoTime(findings.judgedAt),
  } as TrialBody
}

export function toSegmentsBody({ key, segments, isComplete }: TrialSegments): NonNullable<TrialBody['segments']> {
  const toArm = ({ voters, positive }: { voters: number; positive: number }) => {
    return { voters, positive, rate: voters === 0 ? null : rounded(positive / voters) }
  }
  return {
    key,
    complete: isComplete,
    values: segments.map(({ value, isOther, arms, difference, verdict }) => ({
      value,
      other: isOther,
      control: toArm(arms.control),
      candidate: toArm(arms.candidate),
      difference: difference === null ? null : rounded(difference.difference),
      interval: difference === null ? null : difference.interval.map(rounded),
      verdict,
    })),
  }
}

/** The page of the pull request; null without one, or for a repository without pages. */
export function pullUrlOf(repository: Repository | null, number: number | null): string | null {
  if (repository === null || number === null) return null
  const url = webUrlOf(repository) + forgeOf(repository.forge).pullPath(number)
  return isWebUrl(url) ? url : null
}

function toArmBody({ exposures, voters, positive }: ArmFindings = { exposures: 0, voters: 0, positive: 0 }) {
  return {
    exposures,
    voters,
    positive,
    rate: voters === 0 ? null : rounded(positive / voters),
    votes_per_exposure: exposures === 0 ? null : rounded(voters / exposures),
  }
}
