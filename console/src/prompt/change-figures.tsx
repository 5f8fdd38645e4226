import type { Effect, RatedTally } from '@promptledger/client'
import { signalsPath } from '../signals/signals-path.ts'
import { countOf, formatNumber } from '../ui/number.ts'
import { PageLink } from '../ui/page-link.tsx'
import { formatPoints, formatTally } from '../ui/percent.ts'
import { Term } from '../ui/term.tsx'

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
        {impact.explanation} <Difference {...impact} />
      </p>
    </section>
  )
}

interface SideProps {
  name: string
  tally: RatedTally
  href: string
}

function Side({ name, tally, href }: SideProps) {
  const { positive, negative } = tally
  const total = positive + negative
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{formatTally(tally)}</strong>
        {total === 0 ? (
          <span className="muted">No signals</span>
        ) : (
          <PageLink href={href}>
            {formatNumber(positive)} of {countOf(total, 'signal')}
          </PageLink>
        )}
      </dd>
    </div>
  )
}

function Difference({ difference, interval }: Effect) {
  if (difference === null || interval === null) return null
  const [low, high] = interval.map(formatPoints) as [string, string]
  return (
    <>
      Difference: {formatPoints(difference)} percentage points{' '}
      <span className="nowrap">
        (<Term name="confidence_range">95% confidence range</Term>:
      </span>{' '}
      {low} to {high}).
    </>
  )
}
