import type { UsageReport } from '@promptledger/client'
import { Badge } from '../ui/badge.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { Meter } from '../ui/meter.tsx'
import { Notice } from '../ui/notice.tsx'
import { formatNumber } from '../ui/number.ts'
import { Time } from '../ui/time.tsx'
import { type LimitLevel, limitLevel } from './limit-level.ts'
import { planCommand, planLabels } from './plan.ts'

const tones = { ok: 'accent', near: 'caution', reached: 'bad' } as const

export function ThisMonth({ usage, organisationId }: { usage: UsageReport; organisationId: number }) {
  const { plan, limit, used, remaining, resets_at: resetsAt } = usage
  const level = limitLevel(usage)
  return (
    <section className="card usage-month" aria-labelledby="this-month">
      <div className="usage-head">
        <h2 id="this-month">This month</h2>
        <Badge>{planLabels[plan]} plan</Badge>
      </div>
      {limit === null ? <Unlimited used={used} /> : <OfLimit used={used} limit={limit} level={level} />}
      <dl className="details-list usage-details">
        {limit !== null && (
          <div>
            <dt>Used</dt>
            <dd>{Math.floor((used / limit) * 100)}%</dd>
          </div>
        )}
        <div>
          <dt>Remaining</dt>
          <dd>{remaining === null ? 'Unlimited' : formatNumber(remaining)}</dd>
        </div>
        <div>
          <dt>{limit === null ? 'Next month starts' : 'Resets'}</dt>
          <dd>
            <Time at={resetsAt} />{' '}
            <span className="muted">
              (<Time at={resetsAt} as="relative" />)
            </span>
          </dd>
        </div>
      </dl>
      <LimitWarning level={level} />
      {level !== 'ok' && (
        <div>
          <p className="muted small">To change the plan, run this on the server:</p>
          <CodeBlock code={planCommand(organisationId, plan)} what="command" />
        </div>
      )}
    </section>
  )
}

function OfLimit({ used, limit, level }: { used: number; limit: number; level: LimitLevel }) {
  const text = `${formatNumber(used)} of ${formatNumber(limit)} signals`
  return (
    <>
      <p className="usage-total">
        <strong>{formatNumber(used)}</strong> of {formatNumber(limit)} signals
      </p>
      <Meter label="Signals recorded this month" value={used} max={limit} tone={tones[level]} text={text} />
    </>
  )
}

function Unlimited({ used }: { used: number }) {
  return (
    <p className="usage-total">
      <strong>{formatNumber(used)}</strong> {used === 1 ? 'signal' : 'signals'}, no monthly limit
    </p>
  )
}

function LimitWarning({ level }: { level: LimitLevel }) {
  if (level === 'ok') return null
  if (level === 'near') {
    return (
      <Notice tone="caution">
        You are close to this month's limit. Once it is reached, new signals are rejected until the month ends or the
        plan changes.
      </Notice>
    )
  }
  return (
    <Notice tone="bad">
      You have reached this month's limit. New signals are rejected (429) and not recorded until the month ends or the
      plan changes.
    </Notice>
  )
}
