import type { Overview } from '../../domain/impact/overview.ts'
import { isoTime } from '../../domain/time.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { toRegressionBody } from '../regressions/body.ts'
import type { PromptBody } from './schema.ts'

export function toPromptBody({ prompt, lastChange, days, signals, regression }: Overview): PromptBody {
  const { publicId, name, path, createdAt } = prompt
  return {
    id: publicId,
    name,
    path,
    created_at: isoTime(createdAt),
    last_change: lastChange === null ? null : toHistoryEntryBody(lastChange.entry),
    verdict: lastChange?.verdict ?? null,
    signals: { ...signals, days: days.map(({ start, ...tally }) => ({ start: isoTime(start), ...tally })) },
    regression: regression && toRegressionBody(regression),
  }
}
