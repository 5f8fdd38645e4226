import type { RegressionState } from '@promptledger/client'
import { Badge } from '../ui/badge.tsx'
import { Term } from '../ui/term.tsx'

const badges = {
  open: { tone: 'bad', label: 'Open' },
  repaired: { tone: 'good', label: 'Repaired' },
  withdrawn: { tone: 'plain', label: 'Withdrawn' },
  dismissed: { tone: 'plain', label: 'Dismissed' },
} as const

export function RegressionStateBadge({ state }: { state: RegressionState }) {
  const { tone, label } = badges[state]
  return (
    <Badge tone={tone}>
      <Term name={state === 'withdrawn' ? 'withdrawn' : 'regression'}>{label}</Term>
    </Badge>
  )
}
