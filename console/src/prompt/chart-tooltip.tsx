import type { TimelineEntry } from '@promptledger/client'
import { dateFormat, mediumDate } from '../ui/locale.ts'
import { countOf, formatNumber } from '../ui/number.ts'
import { formatPercent, formatShares, formatTally } from '../ui/percent.ts'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { verdictLabels } from '../ui/verdict.tsx'
import type { Cluster } from './chart-clusters.ts'
import type { ShiftBand } from './chart-shifts.ts'
import type { Step } from './chart-steps.ts'
import { titleOf } from './entry-title.ts'

export interface Pointed {
  x: number
  y: number
  step: Step | null
  shift: ShiftBand | null
  cluster: Cluster | null
}

interface Props {
  pointed: Pointed
  /** The change to name: the one under the pointer, or the one that was live. */
  change: TimelineEntry | null
  size: { width: number; height: number }
}

/** The numbers of the step under the pointer, and the change that was live. */
export function ChartTooltip({ pointed: { x, y, step, shift, cluster }, change, size: { width, height } }: Props) {
  const place = {
    ...(x > width / 2 ? { right: width - x + 14 } : { left: x + 14 }),
    ...(y > height / 2 ? { bottom: height - y + 12 } : { top: y + 12 }),
  }
  return (
    <div className="chart-tooltip" style={place}>
      {cluster !== null && cluster.count > 1 ? (
        <>
          <strong>{countOf(cluster.count, 'change')}</strong>
          <span>{formatSpan(cluster.from, cluster.to)}</span>
          {cluster.tone === 'regression' && <span className="bad">With an open regression</span>}
          <span className="muted">Click to zoom in</span>
        </>
      ) : (
        <>
          {cluster === null && step !== null && <StepFigures step={step} />}
          {cluster === null && shift !== null && (
            <span className="chart-tooltip-shift">
              {shift.label}: {formatShares(...shift.rates)}
            </span>
          )}
          {change !== null && <LiveChange change={change} isMarked={cluster !== null} />}
          {change === null && step !== null && <Unloaded step={step} />}
        </>
      )}
    </div>
  )
}

function StepFigures({ step: { start, end, positive, total, share, isFew, isOpen } }: { step: Step }) {
  return (
    <>
      <strong>
        {formatSpan(start, end)}
        {isOpen && ', so far'}
      </strong>
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
            {formatNumber(positive)} of {countOf(total, 'signal')}
            {isFew && ': too few to tell'}
          </span>
        </>
      )}
    </>
  )
}

function LiveChange({ change, isMarked }: { change: TimelineEntry; isMarked: boolean }) {
  const { entry, impact } = change
  const after = impact?.after
  return (
    <span className="chart-tooltip-change">
      <strong>
        <UntrustedText text={titleOf(entry, change.message)} />
      </strong>
      <span className="muted">
        {isMarked ? 'Live from' : 'Live since'} {mediumDate(new Date(impact?.live_from ?? entry.created_at))},{' '}
        <UntrustedText text={entry.user.name} />
        {entry.pr_number !== null && `, #${entry.pr_number}`}
      </span>
      {impact !== null && after?.rate != null && (
        <span>
          {(impact.before.rate === null ? [after] : [impact.before, after]).map(formatTally).join(' → ')} of{' '}
          {countOf(after.positive + after.negative, 'signal')}
          <span className="muted">, {verdictLabels[impact.verdict].toLowerCase()}</span>
        </span>
      )}
    </span>
  )
}

function Unloaded({ step: { changes, isMixed } }: { step: Step }) {
  if (changes > 0) return <span className="muted">{countOf(changes, 'change')} went live. Zoom in to see them</span>
  return isMixed ? <span className="muted">Several versions took turns</span> : null
}

const dayRange = dateFormat({ dateStyle: 'medium' })
const timeRange = dateFormat({ dateStyle: 'medium', timeStyle: 'short' })

/** A time span as short as possible: whole days without times. */
export function formatSpan(start: number, end: number): string {
  const isWholeDays = end - start >= 86_400_000
  // The last millisecond: a day that ends at midnight does not include the next one.
  return isWholeDays ? dayRange.formatRange(start, end - 1) : timeRange.formatRange(start, end)
}
