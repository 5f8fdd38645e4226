import { Term } from '../ui/term.tsx'
import type { TermName } from '../ui/terms.ts'

/** What the chart's parts mean, here and in the exported picture. */
const legend: { kind: string; label: string; term?: TermName }[] = [
  { kind: 'average', label: 'average while a version was live' },
  { kind: 'band', label: 'its 95% confidence range', term: 'confidence_range' },
  { kind: 'line', label: 'share of positive signals per interval' },
  { kind: 'few', label: 'few signals, or an interval that is not over' },
  { kind: 'bar', label: 'number of signals, or votes' },
  { kind: 'shift', label: 'shift that no change explains', term: 'shift' },
  { kind: 'dot better', label: 'better' },
  { kind: 'dot worse', label: 'worse' },
]

/** Without what the chart does not have. */
export function legendOf(hasShifts: boolean) {
  return legend.filter(({ kind }) => kind !== 'shift' || hasShifts)
}

export function ChartLegend({ hasShifts }: { hasShifts: boolean }) {
  return (
    <ul className="legend" aria-label="Legend">
      {legendOf(hasShifts).map(({ kind, label, term }) => (
        <li key={kind}>
          <span className={`legend-${kind}`} /> {term === undefined ? label : <Term name={term}>{label}</Term>}
        </li>
      ))}
    </ul>
  )
}
