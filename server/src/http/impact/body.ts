import type {
  EffectBody,
  LiveWindowBody,
  SegmentsBody,
  TimelineEntryBody,
  UnknownVersionsBody,
} from '../../../../contract/impact.ts'
import type { PullStep } from '../../domain/history/history.ts'
import { type Impact, rated } from '../../domain/impact/impact.ts'
import type { LiveWindow } from '../../domain/impact/live/live-window.ts'
import type { SegmentedImpact } from '../../domain/impact/segment-impact.ts'
import type { TimelineEntry } from '../../domain/impact/timeline.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { webUrlOf } from '../../domain/repositories/repository-url.ts'
import type { VersionTally } from '../../domain/signals/signal.ts'
import { sentVersion } from '../../domain/signals/version.ts'
import { isoTime, timeOrNull } from '../../domain/time.ts'
import type { Trial } from '../../domain/trials/trial.ts'
import { forgeOf } from '../../forges/index.ts'
import { toHiddenStatusBody, toHistoryEntryBody } from '../history/body.ts'

/** The impact of a change, without the change itself. */
export function toEffectBody({ liveFrom, liveUntil, liveSource, windows, ...impact }: Impact): EffectBody {
  const { before, after, attributedBy, unattributed, effectiveSignals, difference, interval } = impact
  return {
    live_from: isoTime(liveFrom),
    live_until: timeOrNull(liveUntil),
    live_source: liveSource,
    live_windows: toWindowBodies(windows),
    before,
    after,
    attributed_by: attributedBy,
    unattributed,
    exposures: impact.exposures,
    evaluations: impact.evaluations.map(({ name, before, after }) => ({
      name,
      before: rated(before),
      after: rated(after),
    })),
    effective_signals: effectiveSignals,
    difference: difference === null ? null : rounded(difference),
    interval: interval === null ? null : interval.map(rounded),
    verdict: impact.verdict,
    explanation: impact.explanation,
    first_version: impact.isFirst,
    trial: impact.trial && toTrialOfChange(impact.trial),
  }
}

export function toTrialOfChange({ id, state, verdict }: Trial) {
  return { id, state, verdict }
}

/** The newest times in which a change was live. A canary can have many. */
const maxWindows = 20

export function toWindowBodies(windows: readonly LiveWindow[]): LiveWindowBody[] {
  return windows.slice(-maxWindows).map(toWindowBody)
}

function toWindowBody({ from, until, share, source, environment }: LiveWindow): LiveWindowBody {
  return { from: isoTime(from), until: timeOrNull(until), share: rounded(share), live_source: source, environment }
}

// The largest groups. A client that sends an ID of its own with each signal has as many versions.
const maxUnknownVersions = 20

export function toUnknownVersionsBody(unknown: VersionTally[]): UnknownVersionsBody {
  const sum = (value: 'positive' | 'negative') => unknown.reduce((total, tally) => total + tally[value], 0)
  const versions = unknown
    .slice(0, maxUnknownVersions)
    .map(({ version, positive, negative }) => ({ version: sentVersion(version), positive, negative }))
  return { positive: sum('positive'), negative: sum('negative'), versions }
}

export function toTimelineEntryBody(
  { entry, pull, impact }: TimelineEntry,
  repository: Repository | null,
): TimelineEntryBody {
  const { message, actor, path, commitSha, hiddenCharacters } = entry
  return {
    entry: toHistoryEntryBody(entry),
    message,
    actor,
    path,
    commit_url: repository && webUrlOf(repository) + forgeOf(repository.forge).commitPath(commitSha),
    hidden_characters: hiddenCharacters && toHiddenStatusBody(hiddenCharacters),
    pull: pull && { opened: toStepBody(pull.opened), outcome: toStepBody(pull.outcome) },
    impact: impact && toEffectBody(impact),
  }
}

export function toSegmentsBody({ key, mix, segments, isComplete }: SegmentedImpact): SegmentsBody {
  return {
    key,
    complete: isComplete,
    mix: mix && { audience: rounded(mix.audience), within: rounded(mix.within) },
    values: segments.map(({ value, isOther, before, after, difference, effectiveSignals, verdict, explanation }) => ({
      value,
      other: isOther,
      before: rated(before),
      after: rated(after),
      effective_signals: effectiveSignals,
      difference: difference === null ? null : rounded(difference.difference),
      interval: difference === null ? null : difference.interval.map(rounded),
      verdict,
      explanation,
    })),
  }
}

function toStepBody(step: PullStep | null) {
  return step && { entry_id: step.entryId, action: step.action, created_at: isoTime(step.createdAt) }
}

/** Digits beyond the sixth decimal are floating-point noise. */
export function rounded(rate: number): number {
  return Math.round(rate * 1e6) / 1e6
}
