import type { Effect, RatedTally } from '@promptledger/client'
import { formatShare } from '../ui/share.tsx'
import { Verdict } from '../ui/verdict.tsx'

/** What users thought before and after a change. */
export function Figures({ effect }: { effect: Effect }) {
  return (
    <div className="figures-block">
      <table className="figures-table">
        <caption className="unseen">Signals before and after the change</caption>
        <thead>
          <tr>
            <td />
            <th scope="col">Positive</th>
            <th scope="col">Negative</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          <FigureRow name="Before" tally={effect.before} />
          <FigureRow name="After" tally={effect.after} />
        </tbody>
      </table>
      <p>
        <Verdict verdict={effect.verdict} /> {explain(effect)}
      </p>
    </div>
  )
}

function FigureRow({ name, tally }: { name: string; tally: RatedTally }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{tally.positive.toLocaleString()}</td>
      <td>{tally.negative.toLocaleString()}</td>
      <td>{tally.rate === null ? '–' : formatShare(tally.rate)}</td>
    </tr>
  )
}

function explain({ verdict, difference, interval }: Effect): string {
  if (difference === null || interval === null) return 'There is nothing to compare with yet.'
  const [low, high] = interval.map(points) as [string, string]
  const figures = `The share of positive signals changed by ${points(difference)} points; the true change lies between ${low} and ${high} with 95 % confidence.`
  if (verdict === 'too_little_data') return `${figures} Too few have voted to say more.`
  if (verdict === 'no_difference_seen') return `${figures} That may well be chance.`
  return `${figures} That is more than chance, however often one looks.`
}

function points(share: number): string {
  const rounded = Math.round(share * 1_000) / 10
  return `${rounded > 0 ? '+' : rounded < 0 ? '−' : ''}${Math.abs(rounded)}`
}
