import type { Alert, Regression, Repository, Shift, UsageReport } from '@promptledger/client'
import { BellOff, CircleHelp, Gauge, GitBranch, type LucideIcon, TrendingDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { regressionPath, shiftPath } from '../prompt/prompt-path.ts'
import { liveSince, openTimeOf, ratesOf } from '../regressions/regression-words.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { countOf, formatNumber } from '../ui/number.ts'
import { formatShares } from '../ui/percent.ts'
import { PromptName } from '../ui/prompt-name.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { limitLevel } from '../usage/plan.ts'

export function RegressionItem({ regression }: { regression: Regression }) {
  const { prompt, change } = regression
  return (
    <AttentionItem
      icon={TrendingDown}
      tone="bad"
      name={<PromptName name={prompt.name} />}
      to={regressionPath(regression)}
      note={`open for ${openTimeOf(regression)}`}
    >
      <strong>{ratesOf(regression)}</strong> since <Time at={liveSince(regression)} as="date" />,{' '}
      <UntrustedText text={change.user.name} />
      {change.pr_number !== null && change.pr_url !== null && (
        <>
          , <ExternalLink to={change.pr_url}>#{change.pr_number}</ExternalLink>
        </>
      )}
    </AttentionItem>
  )
}

export function ShiftItem({ shift }: { shift: Shift }) {
  const isFall = shift.rate_after < shift.rate_before
  return (
    <AttentionItem
      icon={CircleHelp}
      tone="caution"
      name={<PromptName name={shift.prompt.name} />}
      to={shiftPath(shift)}
      note="unexplained"
    >
      {isFall ? 'fell' : 'rose'} <strong>{formatShares(shift.rate_before, shift.rate_after)}</strong> around{' '}
      <Time at={shift.at} as="date" />,{' '}
      {shift.candidates === null ? 'without a change' : `by one of ${countOf(shift.candidates.count, 'change')}`}
    </AttentionItem>
  )
}

export function RepositoryItem({ repository }: { repository: Repository }) {
  const { id, url, last_error: error, last_sync_at: lastSync } = repository
  return (
    <AttentionItem
      icon={GitBranch}
      tone="bad"
      name={<UntrustedText text={url} />}
      to={`/repositories/${id}`}
      note={lastSync === null ? 'never synced' : <LastSync at={lastSync} />}
    >
      does not sync
      {error !== null && (
        <span className="attention-detail">
          <UntrustedText text={error} />
        </span>
      )}
    </AttentionItem>
  )
}

function LastSync({ at }: { at: string }) {
  return (
    <>
      last synced <Time at={at} as="relative" />
    </>
  )
}

export function AlertItem({ alert }: { alert: Alert }) {
  const { id, name, state, disabled_reason: reason, last_delivery: last } = alert
  const at = state === 'disabled' ? alert.disabled_at : (last?.finished_at ?? null)
  const cause = state === 'disabled' ? reason : (last?.error ?? null)
  return (
    <AttentionItem
      icon={BellOff}
      tone="caution"
      name={<UntrustedText text={name} />}
      to={`/alerts/${id}`}
      note={at === null ? undefined : <Time at={at} as="relative" />}
    >
      {state === 'disabled' ? 'the alert is disabled' : 'the last message was not delivered'}
      {cause !== null && (
        <span className="attention-detail">
          <UntrustedText text={cause} />
        </span>
      )}
    </AttentionItem>
  )
}

export function LimitItem({ usage }: { usage: UsageReport }) {
  const isReached = limitLevel(usage) === 'reached'
  return (
    <AttentionItem
      icon={Gauge}
      tone={isReached ? 'bad' : 'caution'}
      name="Monthly limit"
      to="/usage"
      note={
        <>
          resets <Time at={usage.resets_at} as="relative" />
        </>
      }
    >
      <strong>
        {formatNumber(usage.used)} of {formatNumber(usage.limit ?? 0)}
      </strong>{' '}
      signals {isReached ? 'used, new ones are rejected' : 'used'}
    </AttentionItem>
  )
}

interface Props {
  icon: LucideIcon
  tone: 'bad' | 'caution'
  /** What it is about, and where to look. */
  name: ReactNode
  to: string
  children: ReactNode
  /** A short remark at the end of the line. */
  note?: ReactNode
}

function AttentionItem({ icon: Icon, tone, name, to, children, note }: Props) {
  return (
    <li className={`attention-item ${tone}`}>
      <Icon aria-hidden="true" />
      <div>
        <Link className="row-link" href={to}>
          {name}
        </Link>
        : {children}
      </div>
      {note !== undefined && <span className="attention-note">{note}</span>}
    </li>
  )
}
