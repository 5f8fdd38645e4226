import type { Trial, TrialArm } from '@promptledger/client'
import { formatNumber } from '../ui/number.ts'
import { formatPoints, formatTally } from '../ui/percent.ts'
import { type Column, Table } from '../ui/table.tsx'
import { Term } from '../ui/term.tsx'
import { formatShare, servedShare } from './trial-words.tsx'

interface Row extends TrialArm {
  name: string
  share: number
}

const columns: Column<Row>[] = [
  { header: 'Version', cell: ({ name }) => <strong>{name}</strong> },
  { header: 'Served to', align: 'right', cell: ({ share }) => formatShare(share) },
  { header: 'Units served', align: 'right', cell: ({ exposures }) => formatNumber(exposures) },
  { header: 'Voters', align: 'right', cell: ({ voters }) => formatNumber(voters) },
  { header: 'Votes per unit', align: 'right', cell: ({ votes_per_exposure: votes }) => formatRatio(votes) },
  {
    header: 'Positive',
    align: 'right',
    cell: ({ positive, voters }) => <strong>{formatTally({ positive, negative: voters - positive })}</strong>,
  },
]

/** Both versions beside each other, and the difference with its confidence range. */
export function TrialFigures({ trial }: { trial: Trial }) {
  const share = servedShare(trial)
  const rows = [
    { ...trial.control, name: 'Live version', share: 1 - share },
    { ...trial.candidate, name: 'Candidate', share },
  ]
  return (
    <section aria-labelledby="figures" className="page-section">
      <h2 id="figures">Figures</h2>
      <Table caption="Figures of both versions" columns={columns} rows={rows} rowKey={({ name }) => name} />
      <Difference {...trial} />
      <p className="muted small">
        A unit is a user or a conversation, as your application decides. Only the first vote of each voter counts.
      </p>
    </section>
  )
}

function Difference({ difference, interval, mismatch }: Trial) {
  // Its estimate relies on the promised share.
  if (mismatch) return null
  if (difference === null || interval === null) {
    return <p>The difference is shown as soon as both versions have votes.</p>
  }
  const [low, high] = interval as [number, number]
  return (
    <div className="card trial-difference">
      <p>
        Difference: <strong>{formatPoints(difference)} percentage points</strong>{' '}
        <span className="nowrap">
          (<Term name="confidence_range">95% confidence range</Term>:
        </span>{' '}
        {formatPoints(low)} to {formatPoints(high)}).
      </p>
      <div className="trial-range" aria-hidden="true">
        <div className={toneOf(low, high)} style={{ left: place(low), right: `calc(100% - ${place(high)})` }} />
        <span style={{ left: place(difference) }} />
      </div>
      <p className="trial-range-ends muted small" aria-hidden="true">
        <span>Candidate worse</span>
        <span>Same</span>
        <span>Candidate better</span>
      </p>
    </div>
  )
}

/** From -1 on the left to 1 on the right. Small differences get more room. */
function place(difference: number): string {
  return `${50 + 50 * Math.sign(difference) * Math.sqrt(Math.min(1, Math.abs(difference)))}%`
}

function toneOf(low: number, high: number): string {
  return low > 0 ? 'better' : high < 0 ? 'worse' : ''
}

function formatRatio(ratio: number | null): string {
  return ratio === null ? '–' : formatNumber(Number(ratio.toPrecision(2)))
}
