import type { Page, Prompt, PromptSort, Summary } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { promptPath, regressionPath } from '../prompt/prompt-path.ts'
import { ratesOf } from '../regressions/regression-words.tsx'
import { ActionIcon } from '../ui/action-icon.tsx'
import { formatNumber } from '../ui/number.ts'
import { PagedTable } from '../ui/paged-table.tsx'
import { formatTally } from '../ui/percent.ts'
import { PromptName } from '../ui/prompt-name.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { Verdict } from '../ui/verdict.tsx'
import { pageFrom } from '../url-params.ts'

const sortFields = ['name', 'last_change', 'signals', 'positive_share', 'effect', 'regression'] as const

export const worstFirst = 'regression'

type SortField = (typeof sortFields)[number]

const columns: Column<Prompt, SortField>[] = [
  { header: 'Prompt', sort: { field: 'name', first: 'name' }, cell: (prompt) => <Name {...prompt} /> },
  {
    header: 'Last change',
    sort: { field: 'last_change', first: '-last_change' },
    cell: (prompt) => <LastChange {...prompt} />,
  },
  {
    header: 'Signals (30 days)',
    sort: { field: 'signals', first: '-signals' },
    cell: ({ signals }) => (
      <span className="trend">
        <Sparkline days={signals.days} />
        <span className="number">{formatNumber(signals.positive + signals.negative)}</span>
      </span>
    ),
  },
  {
    header: 'Positive',
    sort: { field: 'positive_share', first: 'positive_share' },
    cell: ({ signals }) => <span className="positive-share">{formatTally(signals)}</span>,
  },
  {
    header: 'Effect of last change',
    sort: { field: 'effect', first: 'effect' },
    cell: (prompt) => <LastEffect {...prompt} />,
  },
]

interface Props {
  query: UseQueryResult<Page<Prompt>>
  empty: ReactNode
  sort: PromptSort
  onSort: (sort: PromptSort) => void
}

export function PromptTable({ query, empty, sort, onSort }: Props) {
  return (
    <PagedTable
      query={query}
      noun="prompts"
      caption="Prompts"
      columns={columns}
      rowKey={({ id }) => id}
      empty={empty}
      sort={sort}
      onSort={onSort}
    />
  )
}

/** The list that the URL asks for. Any unknown order sorts the worst prompts first. */
export function listFrom(params: URLSearchParams): { page: number; q: string; sort: PromptSort } {
  const sorts = sortFields.flatMap((field) => [field, `-${field}` as const])
  const sort = sorts.find((known) => known === params.get('sort')) ?? worstFirst
  return { page: pageFrom(params), q: params.get('q') ?? '', sort }
}

function Name({ id, name, path }: Prompt) {
  return (
    <>
      <Link className="row-link" href={promptPath(id)}>
        <PromptName name={name} />
      </Link>
      {path !== null && path !== name && (
        <span className="path muted">
          <PromptName name={path} />
        </span>
      )}
    </>
  )
}

function LastEffect({ verdict, first_version: isFirst, regression }: Prompt) {
  if (verdict === null && regression === null) return null
  return (
    <div>
      {verdict !== null && <Verdict verdict={verdict} isFirst={isFirst} />}
      {regression !== null && (
        <Link className="cell-note regression-link" href={regressionPath(regression)}>
          Open regression: {ratesOf(regression)}
        </Link>
      )}
    </div>
  )
}

function LastChange({ last_change: change }: Prompt) {
  if (change === null) return <span className="muted">None yet</span>
  return (
    <span className="last-change">
      <ActionIcon action={change.action} />
      <span>
        <UntrustedText text={change.user.name} />
        <span className="cell-note muted">
          <Time at={change.created_at} as="relative" />
        </span>
      </span>
    </span>
  )
}

const width = 120
const height = 28
const gap = 1

/** Positive and negative signals per day. Two paths rather than 60 bars, because a page has many of them. */
function Sparkline({ days }: { days: Summary['data'] }) {
  const max = Math.max(1, ...days.map(({ positive, negative }) => positive + negative))
  const total = days.reduce((sum, { positive, negative }) => sum + positive + negative, 0)
  const step = width / days.length
  const scale = (count: number) => (count / max) * height
  const bar = (i: number, top: number, bottom: number) =>
    `M${round(i * step)} ${round(bottom)}V${round(top)}h${round(step - gap)}V${round(bottom)}z`
  const bars = (from: (day: Day) => number, count: (day: Day) => number) =>
    days
      .map((day, i) => {
        const bottom = height - scale(from(day))
        return count(day) === 0 ? '' : bar(i, bottom - scale(count(day)), bottom)
      })
      .join('')
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${formatNumber(total)} signals in ${days.length} days`}
    >
      <path className="positive" d={bars(negativeOf, positiveOf)} />
      <path className="negative" d={bars(() => 0, negativeOf)} />
    </svg>
  )
}

type Day = Summary['data'][number]

const positiveOf = ({ positive }: Day) => positive
const negativeOf = ({ negative }: Day) => negative

function round(value: number): number {
  return Math.round(value * 100) / 100
}
