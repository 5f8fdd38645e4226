import type { TriageBody } from '../../../contract/regressions.ts'
import { type Instant, isoTime, parseTime, timeOrNull } from '../domain/time.ts'
import { type Triage, type Triaged, type TriageStep, validTriage } from '../domain/triage.ts'

/** What people want to do about a regression or a shift. */
export function readTriage(body: TriageBody, now: Instant): Triage {
  const { owner, acknowledged, snoozed_until: until, comment } = body
  return validTriage(
    {
      ...(owner !== undefined && { owner }),
      ...(acknowledged !== undefined && { acknowledged }),
      ...(until !== undefined && { snoozedUntil: until === null ? null : parseTime('snoozed_until', until) }),
      ...(comment !== undefined && { comment }),
    },
    now,
  )
}

/** `owner`: with the default. */
export function toTriagedBody(triaged: Triaged, owner: string | null) {
  return {
    dismissed_at: timeOrNull(triaged.dismissedAt),
    dismissed_by: triaged.dismissedBy,
    note: triaged.note,
    owner,
    acknowledged_at: timeOrNull(triaged.acknowledgedAt),
    acknowledged_by: triaged.acknowledgedBy,
    snoozed_until: timeOrNull(triaged.snoozedUntil),
  }
}

export function toStepBody({ at, ...step }: TriageStep) {
  return { at: isoTime(at), ...step }
}
