import { countOf } from '../ui/number.ts'
import type { ChartView } from './chart-view.ts'
import { maxLoadedChanges } from './prompt-queries.ts'

/** Says what the chart cannot show yet. */
export function ChartNote({ view }: { view: ChartView }) {
  const text = noteOf(view)
  return text === null ? null : <p className="chart-note muted">{text}</p>
}

function noteOf({ steps, changes, changeCount }: ChartView): string | null {
  const total = steps.reduce((sum, step) => sum + step.total, 0)
  if (total === 0) return 'No signals in this time.'
  const last = steps.findLast(({ entryId, isOpen }) => isOpen && entryId !== null)
  const impact = last === undefined ? null : (changes.get(last.entryId as number)?.impact ?? null)
  if (impact?.verdict === 'too_little_data') {
    const signals = countOf(impact.after.positive + impact.after.negative, 'signal')
    return impact.before.rate === null
      ? `${signals} so far. A verdict compares a change with the version before it.`
      : `${signals} on the live version so far; a verdict needs more.`
  }
  const hasVersion = changeCount > 0 || steps.some(({ entryId, isMixed }) => entryId !== null || isMixed)
  if (!hasVersion) return `${countOf(total, 'signal')}. A verdict needs a change to judge.`
  return changeCount > maxLoadedChanges ? 'Zoom in to see single changes and the average of each version.' : null
}
