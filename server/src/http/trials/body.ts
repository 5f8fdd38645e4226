import type { TrialBody } from '../../../../contract/trials.ts'
import { isoTime } from '../../domain/time.ts'
import type { ArmFindings } from '../../domain/trials/findings.ts'
import type { Trial } from '../../domain/trials/trial.ts'
import { rounded } from '../impact/body.ts'

export function toTrialBody(trial: Trial): TrialBody {
  const { findings } = trial
  return {
    id: trial.id,
    state: trial.state,
    ended_by: trial.ending,
    repository_id: trial.repositoryId,
    pr_number: trial.prNumber,
    commit_sha: trial.commitSha,
    prompts: trial.prompts.map(({ prompt }) => ({ id: prompt.publicId, name: prompt.name })),
    share: trial.share,
    ramp: trial.ramp,
    verdict: trial.verdict,
    mismatch: trial.mismatch,
    control: toArmBody(findings?.arms.control),
    candidate: toArmBody(findings?.arms.candidate),
    difference: findings?.difference == null ? null : rounded(findings.difference),
    interval: findings?.interval == null ? null : findings.interval.map(rounded),
    days_left: findings?.daysLeft ?? null,
    started_by: trial.startedBy,
    started_at: isoTime(trial.startedAt),
    ended_at: trial.endedAt === null ? null : isoTime(trial.endedAt),
    judged_at: findings === null ? null : isoTime(findings.judgedAt),
  } as TrialBody
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
