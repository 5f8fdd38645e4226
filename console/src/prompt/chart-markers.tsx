import { memo } from 'react'
import { formatCompact } from '../ui/number.ts'
import { type Cluster, halfWidth } from './chart-clusters.ts'
import { markerStripHeight } from './chart-scale.ts'

interface Props {
  clusters: Cluster[]
  /** Where the lines of the markers end. */
  bottom: number
  highlighted: ReadonlySet<number>
  onPoint: (cluster: Cluster | null) => void
  onSelect: (cluster: Cluster) => void
}

const dotY = 13

/** Marks when changes went live. For pointers only: the history offers each change to the keyboard, and buttons zoom. */
export const ChartMarkers = memo(function ChartMarkers({ clusters, bottom, highlighted, onPoint, onSelect }: Props) {
  return clusters.map((cluster) => {
    const { x, count, change, tone } = cluster
    const id = change?.entry.id
    const isHighlighted = id !== undefined && highlighted.has(id)
    const label = count > 1 ? formatCompact(count) : ''
    const half = halfWidth(cluster) + (isHighlighted ? 2 : 0)
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: the history below has a button for each change.
      <g
        key={`${cluster.from} ${id ?? ''}`}
        className={`chart-marker ${tone}`}
        data-entry={id}
        data-count={count}
        data-highlighted={isHighlighted}
        onPointerEnter={() => onPoint(cluster)}
        onPointerLeave={() => onPoint(null)}
        onClick={() => onSelect(cluster)}
      >
        <line x1={x} x2={x} y1={dotY + 7} y2={bottom} />
        <rect className="chart-marker-target" x={x - half - 4} y={0} width={2 * half + 8} height={markerStripHeight} />
        <rect
          className="chart-marker-dot"
          x={x - half}
          y={dotY - Math.min(half, 9)}
          width={2 * half}
          height={2 * Math.min(half, 9)}
          rx={9}
        />
        {count > 1 && (
          <text x={x} y={dotY + 4} textAnchor="middle">
            {label}
          </text>
        )}
      </g>
    )
  })
})
