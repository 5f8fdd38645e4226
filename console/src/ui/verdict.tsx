import type { Verdict as VerdictName } from '@promptledger/client'
import { CircleDashed, CircleHelp, Equal, TrendingDown, TrendingUp } from 'lucide-react'

export const verdictLabels: Record<VerdictName, string> = {
  better: 'Better',
  worse: 'Worse',
  unexplained: 'Unexplained',
  no_difference_seen: 'No clear difference',
  too_little_data: 'Not enough data yet',
}

const icons = {
  better: TrendingUp,
  worse: TrendingDown,
  unexplained: CircleHelp,
  no_difference_seen: Equal,
  too_little_data: CircleDashed,
}

export function Verdict({ verdict }: { verdict: VerdictName }) {
  const Icon = icons[verdict]
  return (
    <span className={`verdict ${verdict}`}>
      <Icon aria-hidden="true" />
      {verdictLabels[verdict]}
    </span>
  )
}
