import { formatPercent } from '../ui/percent.ts'
import { formatDate } from '../ui/time.tsx'
import type { Point } from './chart-points.ts'

/** The numbers of the point under the pointer. */
export function ChartTooltip({ point, x, chartWidth }: { point: Point; x: number; chartWidth: number }) {
  const { start, positive, negative, share } = point
  return (
    <div className="chart-tooltip" style={x > chartWidth / 2 ? { right: chartWidth - x + 14 } : { left: x + 14 }}>
      <strong>{formatDate(start)}</strong>
      {share === null ? (
        <span>No signals</span>
      ) : (
        <>
          <span>
            {formatPercent(share.value)} positive{' '}
            <span className="muted">
              ({formatPercent(share.low)} to {formatPercent(share.high)})
            </span>
          </span>
          <span className="muted">
            {positive.toLocaleString()} of {(positive + negative).toLocaleString()} signals
          </span>
        </>
      )}
    </div>
  )
}
