import type { ListedRegression } from '../../domain/regressions/regression.ts'
import { type Instant, isoTime } from '../../domain/time.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import type { RegressionBody } from './schema.ts'

export function toRegressionBody(regression: ListedRegression): RegressionBody {
  const { prompt, repairedEntry } = regression
  return {
    id: regression.id,
    prompt: { id: prompt.publicId, name: prompt.name },
    state: regression.state,
    change: toHistoryEntryBody(regression.change),
    opened_at: isoTime(regression.openedAt),
    rate_before: regression.rateBefore,
    rate_after: regression.rateAfter,
    difference: regression.difference,
    interval: regression.interval,
    explanation: regression.explanation,
    repaired_at: timeOrNull(regression.repairedAt),
    repaired_by: regression.repairedBy,
    repaired_entry: repairedEntry && toHistoryEntryBody(repairedEntry),
    withdrawn_at: timeOrNull(regression.withdrawnAt),
    dismissed_at: timeOrNull(regression.dismissedAt),
    dismissed_by: regression.dismissedBy,
    note: regression.note,
  }
}

function timeOrNull(at: Instant | null): string | null {
  return at === null ? null : isoTime(at)
}
