import type { Summary } from '@promptledger/client'
import { formatNumber } from '../ui/number.ts'

const width = 120
const height = 28
const gap = 1

/** Positive and negative signals per day. Two paths rather than 60 bars, because a page has many of them. */
export function Sparkline({ days }: { days: Summary['data'] }) {
  const max = Math.max(1, ...days.map(({ positive, negative }) => positive + negative))
  const total = days.reduce((sum, { positive, negative }) => sum + positive + negative, 0)
  const step = width / days.length
  const scale = (count: number) => (count / max) * height
  const bar = (i: number, top: number, bottom: number) =>
    `M${round(i * step)} ${round(bottom)}V${round(top)}h${round(step - gap)}V${round(bottom)}z`
  const bars = (from: (day: Day) => number, count: (day: Day) => number) =>
    days
      .map((day, i) => {
        const bottom = height - scale(from(day))
        return count(day) === 0 ? '' : bar(i, bottom - scale(count(day)), bottom)
      })
      .join('')
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${formatNumber(total)} signals in ${days.length} days`}
    >
      <path className="positive" d={bars(negativeOf, positiveOf)} />
      <path className="negative" d={bars(() => 0, negativeOf)} />
    </svg>
  )
}

type Day = Summary['data'][number]

const positiveOf = ({ positive }: Day) => positive
const negativeOf = ({ negative }: Day) => negative

function round(value: number): number {
  return Math.round(value * 100) / 100
}
