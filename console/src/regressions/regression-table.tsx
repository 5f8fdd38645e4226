import type { Page, Regression, RegressionSort, RegressionState } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'wouter'
import { regressionPath } from '../prompt/prompt-path.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ExternalLink } from '../ui/external-link.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { formatPoints } from '../ui/percent.ts'
import { PromptName } from '../ui/prompt-name.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { liveSince, openTimeOf, RegressionStateBadge, ratesOf } from './regression-words.tsx'

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

interface Props {
  query: UseQueryResult<Page<Regression>>
  /** The state of all rows; null if it differs. */
  state: RegressionState | null
  sort: RegressionSort
  onSort: (sort: RegressionSort) => void
}

export function RegressionTable({ query, state, sort, onSort }: Props) {
  return (
    <PagedTable
      query={query}
      noun="regressions"
      caption="Regressions"
      columns={state === null ? [...columns, stateColumn] : columns}
      rowKey={({ id }) => id}
      empty={<NoRegressions state={state} />}
      sort={sort}
      onSort={onSort}
    />
  )
}

/** The sort order in the URL. Anything unknown sorts the last opened first. */
export function sortFrom(params: URLSearchParams): RegressionSort {
  const sorts: RegressionSort[] = ['opened_at', 'difference', '-difference']
  return sorts.find((sort) => sort === params.get('sort')) ?? '-opened_at'
}

function Pull({ change }: Regression) {
  if (change.pr_number === null || change.pr_url === null) return <span className="muted">None</span>
  return <ExternalLink to={change.pr_url}>#{change.pr_number}</ExternalLink>
}

const titles = {
  open: 'No open regressions',
  repaired: 'No repaired regressions',
  dismissed: 'No dismissed regressions',
  withdrawn: 'No withdrawn regressions',
}

function NoRegressions({ state }: { state: RegressionState | null }) {
  return (
    <EmptyState title={state === null ? 'No regressions yet' : titles[state]}>
      <p>A change opens a regression when the votes show that it made a prompt worse.</p>
    </EmptyState>
  )
}
