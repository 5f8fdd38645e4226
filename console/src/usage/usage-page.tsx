import type { SessionInfo, UsageReport } from '@promptledger/client'
import { PageHead } from '../page-head.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { dateFormat } from '../ui/locale.ts'
import { formatCompact, formatNumber } from '../ui/number.ts'
import { type Column, Table } from '../ui/table.tsx'
import { ThisMonth } from './this-month.tsx'
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
