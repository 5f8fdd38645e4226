import { countOf, formatNumber } from '../ui/number.ts'
import { formatPercent, formatShares } from '../ui/percent.ts'
import { formatDate } from '../ui/time.tsx'
import { verdictLabels } from '../ui/verdict.tsx'
import type { ChartView } from './chart-view.ts'

/** The chart in words, for screen readers. */
export function describeChart({ steps, changes, changeCount, shifts, span }: ChartView): string {
  const positive = steps.reduce((sum, step) => sum + step.positive, 0)
  const total = steps.reduce((sum, step) => sum + step.total, 0)
  const share = total === 0 ? '' : `, ${formatPercent(positive / total)} positive`
  const verdicts = [...changes.values()].flatMap(({ impact }) => {
    if (impact?.verdict !== 'better' && impact?.verdict !== 'worse') return []
    return [`${verdictLabels[impact.verdict]} since ${formatDate(new Date(impact.live_from))}`]
  })
  return [
    `${formatNumber(total)} signals, ${formatDate(new Date(span[0]))} to ${formatDate(new Date(span[1]))}${share}`,
    countOf(changeCount, 'change'),
    ...verdicts,
    ...shifts.map(({ label, rates }) => `${capitalised(label)}: ${formatShares(...rates)}`),
  ].join('. ')
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
