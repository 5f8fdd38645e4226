import type { Impact } from '../../domain/impact/impact.ts'
import type { TimelineEntry } from '../../domain/impact/timeline.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { webUrlOf } from '../../domain/repositories/repository-url.ts'
import { isoTime } from '../../domain/time.ts'
import { forgeOf } from '../../forges/index.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { toHiddenStatusBody } from '../history/hidden-characters.ts'
import type { EffectBody, TimelineEntryBody } from './schema.ts'

/** The impact of a change, without the change itself. */
export function toEffectBody({ liveFrom, liveUntil, ...impact }: Impact): EffectBody {
  const { before, after, difference, interval, verdict } = impact
  return {
    live_from: isoTime(liveFrom),
    live_until: liveUntil === null ? null : isoTime(liveUntil),
    before,
    after,
    difference: difference === null ? null : rounded(difference),
    interval: interval === null ? null : interval.map(rounded),
    verdict,
  }
}

export function toTimelineEntryBody(
  { entry, impact }: TimelineEntry,
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
    impact: impact && toEffectBody(impact),
  }
}

/** Digits beyond the sixth decimal are floating-point noise. */
function rounded(rate: number): number {
  return Math.round(rate * 1e6) / 1e6
}
