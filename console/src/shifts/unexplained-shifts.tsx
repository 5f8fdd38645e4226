import type { Shift } from '@promptledger/client'
import { Link } from 'wouter'
import { changePath, shiftPath } from '../prompt/prompt-path.ts'
import { RegressionStateBadge } from '../regressions/regression-words.tsx'
import { LoadError } from '../ui/load-state.tsx'
import { Pager } from '../ui/pager.tsx'
import { formatPercent, formatShares } from '../ui/percent.ts'
import { PromptName } from '../ui/prompt-name.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { useUrlParams } from '../url-params.ts'
import { useUnexplainedShifts } from './shift-query.ts'

const columns: Column<Shift>[] = [
  {
    header: 'Prompt',
    cell: (shift) => (
      <Link className="row-link" href={shiftPath(shift)}>
        <PromptName name={shift.prompt.name} />
      </Link>
    ),
  },
  {
    header: 'Positive',
    className: 'nowrap number',
    cell: (shift) => <strong>{formatShares(shift.rate_before, shift.rate_after)}</strong>,
  },
  { header: 'Most likely at', className: 'nowrap', cell: ({ at }) => <Time at={at} /> },
  {
    header: 'Between',
    className: 'shift-range',
    cell: ({ between: [from, until] }) => (
      <span>
        <Time at={from} as="date" /> and <Time at={until} as="date" />
      </span>
    ),
  },
  { header: 'Possible cause', className: 'shift-candidates', cell: PossibleCause },
  {
    header: 'State',
    className: 'nowrap',
    cell: ({ state }) => state !== null && <RegressionStateBadge state={state} />,
  },
]

/** The changes that went live while the rate moved. Votes that name their version would tell which one it was. */
export function PossibleCause({ prompt, candidates }: Pick<Shift, 'prompt' | 'candidates'>) {
  if (candidates === null) return <span className="muted">Unknown</span>
  const { count, changes } = candidates
  return (
    <details>
      <summary>{count === 1 ? 'One change' : `One of ${count} changes`}</summary>
      <ul>
        {changes.map(({ change, share }) => (
          <li key={change.id}>
            <Link href={changePath(prompt.id, change.id)}>
              {change.pr_number === null ? change.commit_sha.slice(0, 7) : `#${change.pr_number}`}
            </Link>{' '}
            <Time at={change.created_at} as="date" />, {formatPercent(share)} of the votes
          </li>
        ))}
      </ul>
      {changes.length < count && <p className="muted">The {changes.length} with the most votes are listed.</p>}
    </details>
  )
}

export function UnexplainedShifts() {
  const [params, setParams] = useUrlParams()
  const page = Math.max(1, Math.floor(Number(params.get('shifts')) || 1))
  const shifts = useUnexplainedShifts({ page })
  if (shifts.data?.pagination.total_count === 0) return null
  return (
    <section className="page-section" aria-labelledby="shifts">
      <div>
        <h2 id="shifts">Unexplained shifts</h2>
        <p className="muted">
          The rate moved, and neither a single change of the prompt nor other prompts explain it. Look for what else
          changed, such as the model or who votes. Where one of several changes may be the cause, signals with a{' '}
          <code>version</code> tell which.
        </p>
      </div>
      {shifts.isError && <LoadError error={shifts.error} retry={shifts.refetch} />}
      {shifts.data && (
        <>
          <Table
            caption="Unexplained shifts, newest first"
            columns={columns}
            rows={shifts.data.data}
            rowKey={({ id }) => id}
          />
          <Pager
            pagination={shifts.data.pagination}
            noun="shifts"
            onPage={(next) => setParams({ shifts: next === 1 ? null : String(next) })}
          />
        </>
      )}
    </section>
  )
}
