import type { Verdict as VerdictName } from '@promptledger/client'
import { CircleDashed, CircleHelp, Equal, TrendingDown, TrendingUp } from 'lucide-react'
import { Term } from './term.tsx'

export const verdictLabels: Record<VerdictName, string> = {
  better: 'Better',
  worse: 'Worse',
  unexplained: 'Unexplained',
  no_difference_seen: 'No clear difference',
  too_little_data: 'Not enough data yet',
}

const firstVersion = 'First version, nothing to compare with'

const icons = {
  better: TrendingUp,
  worse: TrendingDown,
  unexplained: CircleHelp,
  no_difference_seen: Equal,
  too_little_data: CircleDashed,
}

interface Props {
  verdict: VerdictName
  /** No version was live before. */
  isFirst?: boolean
}

/** The effect of a change in two words, which explain themselves. */
export function Verdict({ verdict, isFirst = false }: Props) {
  const isIncomparable = isFirst && verdict === 'too_little_data'
  return (
    <Term name={isIncomparable ? 'first_version' : verdict} className={`verdict ${verdict}`}>
      <VerdictLabel verdict={verdict} label={isIncomparable ? firstVersion : undefined} />
    </Term>
  )
}

/** Without a button, where the explanation is elsewhere. */
export function PlainVerdict({ verdict }: { verdict: VerdictName }) {
  return (
    <span className={`verdict ${verdict}`}>
      <VerdictLabel verdict={verdict} />
    </span>
  )
}

function VerdictLabel({
  verdict,
  label = verdictLabels[verdict],
}: {
  verdict: VerdictName
  label?: string | undefined
}) {
  const Icon = icons[verdict]
  return (
    <>
      <Icon aria-hidden="true" />
      {label}
    </>
  )
}
