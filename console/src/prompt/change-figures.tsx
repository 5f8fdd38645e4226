import type { Effect, RatedTally } from '@promptledger/client'
import { Link } from 'wouter'
import { signalsPath } from '../signals/signals-path.ts'
import { countOf, formatNumber } from '../ui/number.ts'
import { formatPercent, formatPoints } from '../ui/percent.ts'

interface Props {
  promptId: string
  entryId: number
  impact: Effect
}

/** User feedback before and after a change, and what the verdict on it rests on. */
export function ChangeFigures({ promptId, entryId, impact }: Props) {
  return (
    <section className="change-figures" aria-label="Figures">
      <dl className={`change-rates ${impact.verdict}`}>
        <Side name="Before" tally={impact.before} href={signalsPath(promptId, { change: entryId, side: 'before' })} />
        <Side name="After" tally={impact.after} href={signalsPath(promptId, { change: entryId, side: 'after' })} />
      </dl>
      <p>
        {impact.explanation} {rangeOf(impact)}
      </p>
    </section>
  )
}

interface SideProps {
  name: string
  tally: RatedTally
  href: string
}

function Side({ name, tally: { positive, negative, rate }, href }: SideProps) {
  const total = positive + negative
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{rate === null ? '–' : formatPercent(rate)}</strong>
        {total === 0 ? (
          <span className="muted">No signals</span>
        ) : (
          <Link href={href}>
            {formatNumber(positive)} of {countOf(total, 'signal')}
          </Link>
        )}
      </dd>
    </div>
  )
}

function rangeOf({ difference, interval }: Effect): string {
  if (difference === null || interval === null) return ''
  const [low, high] = interval.map(formatPoints) as [string, string]
  return `Difference: ${formatPoints(difference)} percentage points (95% confidence range: ${low} to ${high}).`
}
