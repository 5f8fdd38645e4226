import type { SessionInfo, UsageReport } from '@promptledger/client'
import { PageHead } from '../page-head.tsx'
import { Badge } from '../ui/badge.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { Detail } from '../ui/detail.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { dateFormat } from '../ui/locale.ts'
import { Meter } from '../ui/meter.tsx'
import { Notice } from '../ui/notice.tsx'
import { formatCompact, formatNumber } from '../ui/number.ts'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { type LimitLevel, levelTones, limitLevel, planCommand, planLabels } from './plan.ts'
import { useUsage } from './usage-query.ts'

export function UsagePage({ session }: { session: SessionInfo }) {
  const usage = useUsage()
  return (
    <>
      <PageHead title="Usage" />
      <LoadState query={usage} what="usage" />
      {usage.data && (
        <div className="usage">
          <ThisMonth usage={usage.data} organisationId={session.organisation.id} />
          <Months months={usage.data.months} />
        </div>
      )}
    </>
  )
}

type Month = UsageReport['months'][number]

const shortName = dateFormat({ month: 'short', timeZone: 'UTC' })
const longName = dateFormat({ month: 'long', year: 'numeric', timeZone: 'UTC' })

const columns: Column<Month>[] = [
  { header: 'Month', cell: (month) => longName.format(startOf(month)) },
  { header: 'Signals', cell: ({ used }) => formatNumber(used) },
]

/** A bar per month, oldest first. Screen readers get a table instead. */
function Months({ months }: { months: Month[] }) {
  const oldestFirst = months.toReversed()
  const max = Math.max(1, ...months.map(({ used }) => used))
  return (
    <section className="card" aria-labelledby="months">
      <h2 id="months">Last 12 months</h2>
      <ol className="months" aria-hidden="true">
        {oldestFirst.map((month, i) => (
          <li
            key={month.month}
            className={i === oldestFirst.length - 1 ? 'current' : undefined}
            title={`${longName.format(startOf(month))}: ${formatNumber(month.used)} signals`}
          >
            <span className="months-bar" style={{ height: `${(month.used / max) * 100}%` }}>
              <span className="months-count">{formatCompact(month.used)}</span>
            </span>
            <span className="months-name">{shortName.format(startOf(month))}</span>
          </li>
        ))}
      </ol>
      <Table
        variant="hidden"
        caption="Signals by month"
        columns={columns}
        rows={oldestFirst}
        rowKey={({ month }) => month}
      />
      <p className="muted small">Months are in UTC. Deleted signals still count.</p>
    </section>
  )
}

function startOf({ month }: Month): Date {
  return new Date(`${month}-01T00:00:00Z`)
}

function ThisMonth({ usage, organisationId }: { usage: UsageReport; organisationId: number }) {
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
        {limit !== null && <Detail name="Used">{Math.floor((used / limit) * 100)}%</Detail>}
        <Detail name="Remaining">{remaining === null ? 'Unlimited' : formatNumber(remaining)}</Detail>
        <Detail name={limit === null ? 'Next month starts' : 'Resets'}>
          <Time at={resetsAt} />{' '}
          <span className="muted">
            (<Time at={resetsAt} as="relative" />)
          </span>
        </Detail>
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
      <Meter label="Signals recorded this month" value={used} max={limit} tone={levelTones[level]} text={text} />
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
