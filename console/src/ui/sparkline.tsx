import type { Summary } from '@promptledger/client'

const width = 120
const height = 28
const gap = 1

/** Signals by day: how many, and how many of them negative. */
export function Sparkline({ days }: { days: Summary['data'] }) {
  const most = Math.max(1, ...days.map(({ positive, negative }) => positive + negative))
  const total = days.reduce((sum, { positive, negative }) => sum + positive + negative, 0)
  const step = width / days.length
  const scale = (count: number) => (count / most) * height
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${total.toLocaleString()} signals in ${days.length} days`}
    >
      {days.map(({ start, positive, negative }, i) => {
        const [x, up, down] = [i * step, scale(positive), scale(negative)]
        return (
          <g key={start}>
            <rect className="positive" x={x} y={height - up - down} width={step - gap} height={up} />
            <rect className="negative" x={x} y={height - down} width={step - gap} height={down} />
          </g>
        )
      })}
    </svg>
  )
}
