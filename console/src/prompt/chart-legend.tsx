/** What the chart's parts mean, here and in the exported picture. */
export const legend = [
  { kind: 'average', label: 'average while a version was live' },
  { kind: 'band', label: 'its 95% confidence range' },
  { kind: 'line', label: 'share of positive signals per interval' },
  { kind: 'few', label: 'few signals, or an interval that is not over' },
  { kind: 'bar', label: 'number of signals' },
  { kind: 'dot better', label: 'better' },
  { kind: 'dot worse', label: 'worse' },
]

export function ChartLegend() {
  return (
    <ul className="legend" aria-label="Legend">
      {legend.map(({ kind, label }) => (
        <li key={kind}>
          <span className={`legend-${kind}`} /> {label}
        </li>
      ))}
    </ul>
  )
}
