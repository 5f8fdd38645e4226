import type { ChartLayout, ChartScale } from './chart-scale.ts'
import type { ShiftBand } from './chart-shifts.ts'

interface Props {
  shifts: ShiftBand[]
  layout: ChartLayout
  scale: ChartScale
}

const minWidthPx = 4
// Of the labels, which are bold and 11.5 px high.
const characterPx = 6.8
const rowPx = 14

/** Bands where the rate moved for another reason than a change. A label that would cover another one is left to the tooltip. */
export function ChartShifts({ shifts, layout: { left, right, plot }, scale: { x } }: Props) {
  let free = left
  return shifts.map(({ at, from, to, label }) => {
    const width = Math.max(minWidthPx, x(to) - x(from))
    const start = (x(from) + x(to) - width) / 2
    const textWidth = label.length * characterPx
    const textStart = Math.min(Math.max(left + 4, start + width / 2 - textWidth / 2), right - textWidth)
    const isFree = textStart >= free && textStart >= left
    if (isFree) free = textStart + textWidth + 8
    return (
      <g key={at} className="chart-shift">
        <rect x={start} y={plot.top} width={width} height={plot.bottom - plot.top} />
        {isFree && (
          <text x={textStart} y={plot.bottom - rowPx / 2 + 2}>
            {label}
          </text>
        )}
      </g>
    )
  })
}
