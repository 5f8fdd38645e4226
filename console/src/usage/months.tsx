import type { UsageReport } from '@promptledger/client'

type Month = UsageReport['months'][number]

const short = new Intl.DateTimeFormat(undefined, { month: 'short', timeZone: 'UTC' })
const long = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

/** The months as bars, oldest first; for those who listen, as a table. */
export function Months({ months }: { months: Month[] }) {
  const inOrder = months.toReversed()
  const most = Math.max(1, ...months.map(({ used }) => used))
  return (
    <section className="card" aria-labelledby="months">
      <h2 id="months">The last twelve months</h2>
      <ol className="months" aria-hidden="true">
        {inOrder.map((month, i) => (
          <li
            key={month.month}
            className={i === inOrder.length - 1 ? 'current' : undefined}
            title={`${long.format(startOf(month))}: ${month.used.toLocaleString()} signals`}
          >
            <span className="months-bar" style={{ height: `${(month.used / most) * 100}%` }}>
              <span className="months-count">{compact.format(month.used)}</span>
            </span>
            <span className="months-name">{short.format(startOf(month))}</span>
          </li>
        ))}
      </ol>
      <table className="unseen">
        <caption>Signals by month</caption>
        <thead>
          <tr>
            <th scope="col">Month</th>
            <th scope="col">Signals</th>
          </tr>
        </thead>
        <tbody>
          {inOrder.map((month) => (
            <tr key={month.month}>
              <th scope="row">{long.format(startOf(month))}</th>
              <td>{month.used.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="quiet small">Months are those of UTC. A signal that is taken back stays counted.</p>
    </section>
  )
}

function startOf({ month }: Month): Date {
  return new Date(`${month}-01T00:00:00Z`)
}
