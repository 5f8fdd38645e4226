import type { Verdict as VerdictName } from '@promptledger/client'
import { CircleDashed, Equal, TrendingDown, TrendingUp } from 'lucide-react'

export const verdictNames: Record<VerdictName, string> = {
  better: 'Better',
  worse: 'Worse',
  no_difference_seen: 'No difference seen',
  too_little_data: 'Too little data',
}

const icons = {
  better: TrendingUp,
  worse: TrendingDown,
  no_difference_seen: Equal,
  too_little_data: CircleDashed,
}

export function Verdict({ verdict }: { verdict: VerdictName }) {
  const Icon = icons[verdict]
  return (
    <span className={`verdict ${verdict}`}>
      <Icon aria-hidden="true" />
      {verdictNames[verdict]}
    </span>
  )
}
