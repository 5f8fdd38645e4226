import type { Effect, RatedTally } from '@promptledger/client'
import { formatPercent } from '../ui/percent.ts'
import { type Column, Table } from '../ui/table.tsx'
import { Verdict } from '../ui/verdict.tsx'
import { LiveTimes } from './live-times.tsx'

interface Row extends RatedTally {
  name: string
}

const columns: Column<Row>[] = [
  { header: 'Version', isHeaderHidden: true, cell: ({ name }) => name },
  { header: 'Positive', align: 'right', cell: ({ positive }) => positive.toLocaleString() },
  { header: 'Negative', align: 'right', cell: ({ negative }) => negative.toLocaleString() },
  { header: 'Share', align: 'right', cell: ({ rate }) => (rate === null ? '–' : formatPercent(rate)) },
]

/** User feedback before and after a change, and the verdict on it. */
export function Impact({ impact }: { impact: Effect }) {
  return (
    <div className="impact">
      <Table
        variant="compact"
        caption="Signals before and after the change"
        columns={columns}
        rows={[
          { name: 'Before', ...impact.before },
          { name: 'After', ...impact.after },
        ]}
        rowKey={({ name }) => name}
      />
      <p>
        <Verdict verdict={impact.verdict} /> {impact.explanation} {rangeOf(impact)}
      </p>
      <LiveTimes impact={impact} />
    </div>
  )
}

function rangeOf({ difference, interval }: Effect): string {
  if (difference === null || interval === null) return ''
  const [low, high] = interval.map(formatPoints) as [string, string]
  return `Difference: ${formatPoints(difference)} percentage points (95% confidence range: ${low} to ${high}).`
}

/** A difference of two shares in percentage points, with its sign. */
function formatPoints(difference: number): string {
  const rounded = Math.round(difference * 1_000) / 10
  const sign = rounded > 0 ? '+' : rounded < 0 ? '−' : ''
  return `${sign}${Math.abs(rounded)}`
}
