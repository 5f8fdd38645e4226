import type { Summary } from '@promptledger/client'

const width = 120
const height = 28
const gap = 1

/** Positive and negative signals per day. */
export function Sparkline({ days }: { days: Summary['data'] }) {
  const max = Math.max(1, ...days.map(({ positive, negative }) => positive + negative))
  const total = days.reduce((sum, { positive, negative }) => sum + positive + negative, 0)
  const step = width / days.length
  const scale = (count: number) => (count / max) * height
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${total.toLocaleString()} signals in ${days.length} days`}
    >
      {days.map(({ start, positive, negative }, i) => {
        const [x, positiveHeight, negativeHeight] = [i * step, scale(positive), scale(negative)]
        const top = height - positiveHeight - negativeHeight
        return (
          <g key={start}>
            <rect className="positive" x={x} y={top} width={step - gap} height={positiveHeight} />
            <rect className="negative" x={x} y={height - negativeHeight} width={step - gap} height={negativeHeight} />
          </g>
        )
      })}
    </svg>
  )
}
