import type { Regression, RegressionState } from '@promptledger/client'
import { Link } from 'wouter'
import { promptPath } from '../prompt/prompt-path.ts'
import { Badge } from '../ui/badge.tsx'
import { countOf } from '../ui/number.ts'
import { formatShares } from '../ui/percent.ts'
import { PromptName } from '../ui/prompt-name.tsx'
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

/** The pages above a regression or a shift. */
export function PromptBreadcrumbs({ prompt: { id, name } }: Pick<Regression, 'prompt'>) {
  return (
    <>
      <Link href="/regressions">Regressions</Link>
      <Link href={promptPath(id)}>
        <PromptName name={name} />
      </Link>
    </>
  )
}

export function ratesOf({ rate_before: before, rate_after: after }: Regression): string {
  return formatShares(before, after)
}

/**
 * How long users have had the worse version: from the moment it went live, which is earlier than the votes could show it,
 * until the regression was repaired, withdrawn or dismissed, or until now.
 */
export function openTimeOf(regression: Regression): string {
  const { repaired_at: repaired, withdrawn_at: withdrawn, dismissed_at: dismissed } = regression
  const until = regression.state === 'open' ? null : (dismissed ?? withdrawn ?? repaired)
  return formatDuration((until === null ? Date.now() : Date.parse(until)) - Date.parse(liveSince(regression)))
}

/** When the change went live, or was made if that is unknown. */
export function liveSince({ live_from: liveFrom, change }: Regression): string {
  return liveFrom ?? change.created_at
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** In whole days, or in hours if it is shorter: 20 days. */
function formatDuration(ms: number): string {
  if (ms >= dayMs) return countOf(Math.floor(ms / dayMs), 'day')
  if (ms >= hourMs) return countOf(Math.floor(ms / hourMs), 'hour')
  return 'less than an hour'
}
