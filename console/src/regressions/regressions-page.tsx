import type { Regression, RegressionSort, RegressionState } from '@promptledger/client'
import { Link } from 'wouter'
import { PageHead } from '../page-head.tsx'
import { regressionPath } from '../prompt/prompt-path.ts'
import { UnexplainedShifts } from '../shifts/unexplained-shifts.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { formatPoints } from '../ui/percent.ts'
import { PromptName } from '../ui/prompt-name.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { useRegressions } from './regression-query.ts'
import { liveSince, openTimeOf, RegressionStateBadge, ratesOf } from './regression-words.tsx'

type Filter = RegressionState | 'all'

const filters: { value: Filter; label: string }[] = [
  { value: 'open', label: 'Open' },
  { value: 'repaired', label: 'Repaired' },
  { value: 'dismissed', label: 'Dismissed' },
  { value: 'withdrawn', label: 'Withdrawn' },
  { value: 'all', label: 'All' },
]

/** The changes that made prompts worse, and the moves of rates that no change explains. */
export function RegressionsPage() {
  const [params, setParams] = useUrlParams()
  const selected = filters.find(({ value }) => value === params.get('state'))?.value ?? 'open'
  const sort = sortFrom(params)
  const state = selected === 'all' ? null : selected
  const regressions = useRegressions({ page: pageFrom(params), sort, ...(state !== null && { state }) })
  return (
    <>
      <PageHead title="Regressions">
        <ToggleGroup
          label="State"
          options={filters}
          isSelected={(filter) => filter === selected}
          onSelect={(filter) => setParams({ state: filter === 'open' ? null : filter, page: null })}
        />
      </PageHead>
      <PagedTable
        query={regressions}
        noun="regressions"
        caption="Regressions"
        columns={state === null ? [...columns, stateColumn] : columns}
        rowKey={({ id }) => id}
        empty={<NoRegressions state={state} />}
        sort={sort}
        onSort={(next) => setParams({ sort: next === '-opened_at' ? null : next, page: null })}
      />
      <UnexplainedShifts />
    </>
  )
}

type SortField = 'opened_at' | 'difference'

const columns: Column<Regression, SortField>[] = [
  {
    header: 'Prompt',
    cell: (regression) => (
      <Link className="row-link" href={regressionPath(regression)}>
        <PromptName name={regression.prompt.name} />
      </Link>
    ),
  },
  { header: 'Positive', className: 'nowrap number', cell: (regression) => <strong>{ratesOf(regression)}</strong> },
  {
    header: 'Difference',
    className: 'nowrap regression-loss',
    sort: { field: 'difference', first: 'difference' },
    cell: ({ difference }) => `${formatPoints(difference)} points`,
  },
  { header: 'Author', cell: ({ change }) => <UntrustedText text={change.user.name} /> },
  { header: 'Pull request', cell: (regression) => <Pull {...regression} /> },
  {
    header: 'Detected',
    className: 'nowrap',
    sort: { field: 'opened_at', first: '-opened_at' },
    cell: ({ opened_at: at }) => <Time at={at} as="date" />,
  },
  { header: 'Live since', className: 'nowrap', cell: (regression) => <Time at={liveSince(regression)} as="date" /> },
  { header: 'Open for', className: 'nowrap', cell: openTimeOf },
]

const stateColumn: Column<Regression, SortField> = {
  header: 'State',
  cell: ({ state }) => <RegressionStateBadge state={state} />,
}

/** The sort order in the URL. Anything unknown sorts the last opened first. */
function sortFrom(params: URLSearchParams): RegressionSort {
  const sorts: RegressionSort[] = ['opened_at', 'difference', '-difference']
  return sorts.find((sort) => sort === params.get('sort')) ?? '-opened_at'
}

function Pull({ change }: Regression) {
  if (change.pr_number === null || change.pr_url === null) return <span className="muted">None</span>
  return <ExternalLink to={change.pr_url}>#{change.pr_number}</ExternalLink>
}

function NoRegressions({ state }: { state: RegressionState | null }) {
  return (
    <EmptyState title={state === null ? 'No regressions yet' : `No ${state} regressions`}>
      <p>A change opens a regression when the votes show that it made a prompt worse.</p>
    </EmptyState>
  )
}
