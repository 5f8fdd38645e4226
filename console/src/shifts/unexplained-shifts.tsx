import type { Shift } from '@promptledger/client'
import { Link } from 'wouter'
import { LoadError } from '../ui/load-error.tsx'
import { Pager } from '../ui/pager.tsx'
import { formatShares } from '../ui/percent.ts'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { useUrlParams } from '../url-params.ts'
import { shiftPath } from './shift-path.ts'
import { useUnexplainedShifts } from './shift-query.ts'

const columns: Column<Shift>[] = [
  {
    header: 'Prompt',
    cell: (shift) => (
      <Link className="row-link" href={shiftPath(shift)}>
        <UntrustedText text={shift.prompt.name} />
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
]

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
          The rate moved, and neither a change of the prompt nor other prompts explain it: look for what else changed,
          such as the model or who votes.
        </p>
      </div>
      {shifts.isError && <LoadError error={shifts.error} retry={shifts.refetch} />}
      {shifts.data && (
        <>
          <Table
            caption="Unexplained shifts, newest first"
            columns={columns}
            rows={shifts.data.data}
            rowKey={({ prompt, at }) => `${prompt.id} ${at}`}
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
