import type { PromptBody } from '../../../../contract/prompts.ts'
import type { Overview } from '../../domain/impact/overview.ts'
import { type Instant, isoTime } from '../../domain/time.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { toRegressionBody } from '../regressions/body.ts'

export function toPromptBodies(overviews: readonly Overview[]): PromptBody[] {
  // All have the same thirty days, and a time takes a microsecond to write.
  const times = new Map<Instant, string>()
  const timeOf = (at: Instant): string => {
    const text = times.get(at) ?? isoTime(at)
    times.set(at, text)
    return text
  }
  return overviews.map((overview) => toPromptBody(overview, timeOf))
}

function toPromptBody(
  { prompt, lastChange, days, signals, regression }: Overview,
  timeOf: (at: Instant) => string,
): PromptBody {
  const { publicId, name, path, createdAt } = prompt
  return {
    id: publicId,
    name,
    path,
    created_at: isoTime(createdAt),
    last_change: lastChange === null ? null : toHistoryEntryBody(lastChange.entry),
    verdict: lastChange?.verdict ?? null,
    first_version: lastChange?.isFirst ?? false,
    signals: {
      ...signals,
      days: days.map(({ start, positive, negative }) => ({ start: timeOf(start), positive, negative })),
    },
    regression: regression && toRegressionBody(regression),
  }
}
