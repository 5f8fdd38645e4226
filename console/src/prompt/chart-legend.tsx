export function ChartLegend() {
  return (
    <ul className="legend" aria-label="Legend">
      <li>
        <span className="legend-line" /> share of positive signals
      </li>
      <li>
        <span className="legend-band" /> 95% confidence range
      </li>
      <li>
        <span className="legend-average" /> average while this version was live
      </li>
      <li>
        <span className="legend-bar" /> number of signals
      </li>
      <li>
        <span className="legend-dot better" /> better
      </li>
      <li>
        <span className="legend-dot worse" /> worse
      </li>
    </ul>
  )
}
