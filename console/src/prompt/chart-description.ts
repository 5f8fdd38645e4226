import type { TimelineEntry } from '@promptledger/client'
import { formatPercent } from '../ui/percent.ts'
import { formatDate } from '../ui/time.tsx'
import { verdictLabels } from '../ui/verdict.tsx'
import type { Point } from './chart-points.ts'

/** The chart in words, for screen readers. */
export function describeChart(points: Point[], changes: TimelineEntry[], from: Date): string {
  const positive = points.reduce((sum, point) => sum + point.positive, 0)
  const total = points.reduce((sum, point) => sum + point.positive + point.negative, 0)
  const share = total === 0 ? '' : `, ${formatPercent(positive / total)} positive`
  const verdicts = changes.flatMap(({ entry, impact }) => {
    if (impact?.verdict !== 'better' && impact?.verdict !== 'worse') return []
    return [`${verdictLabels[impact.verdict]} since ${formatDate(new Date(entry.created_at))}`]
  })
  return [
    `${total.toLocaleString()} signals since ${formatDate(from)}${share}`,
    changes.length === 1 ? '1 change' : `${changes.length} changes`,
    ...verdicts,
  ].join('. ')
}
