import type { Prompt, PromptSort } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { pageOf, useAddress } from '../address.ts'
import { ledger } from '../ledger.ts'
import { useTitle } from '../title.ts'
import { ActionIcon } from '../ui/action.tsx'
import { Empty } from '../ui/empty.tsx'
import { Failure } from '../ui/failure.tsx'
import { Loading } from '../ui/loading.tsx'
import { Pager } from '../ui/pager.tsx'
import { Share } from '../ui/share.tsx'
import { Sparkline } from '../ui/sparkline.tsx'
import { Time } from '../ui/time.tsx'
import { Verdict } from '../ui/verdict.tsx'

export function PromptsPage({ admin }: { admin: boolean }) {
  useTitle('Prompts')
  const [address, change] = useAddress()
  const page = pageOf(address)
  const q = address.get('q') ?? ''
  const sort = sortOf(address.get('sort'))
  const prompts = useQuery({
    queryKey: ['prompts', { page, q, sort }],
    queryFn: async ({ signal }) => await ledger.prompts.list({ page, q, sort }, { signal }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <div className="page-head">
        <h1>Prompts</h1>
        <SearchField q={q} onSearch={(text) => change({ q: text, page: null })} />
      </div>
      {prompts.isPending && <Loading what="prompts" />}
      {prompts.isError && <Failure error={prompts.error} retry={prompts.refetch} />}
      {prompts.data?.data.length === 0 && (q === '' ? <NoPrompts admin={admin} /> : <NothingFound q={q} />)}
      {prompts.data && prompts.data.data.length > 0 && (
        <>
          <PromptTable
            prompts={prompts.data.data}
            sort={sort}
            onSort={(next) => change({ sort: next === 'name' ? null : next, page: null })}
          />
          <Pager
            pagination={prompts.data.pagination}
            what="prompts"
            onPage={(next) => change({ page: next === 1 ? null : String(next) })}
          />
        </>
      )}
    </>
  )
}

const columns = [
  { name: 'Prompt', sort: 'name', first: 'name' },
  { name: 'Last change', sort: 'last_change', first: '-last_change' },
  { name: 'Signals, 30 days', sort: 'signals', first: '-signals' },
  { name: 'Positive', sort: 'positive_share', first: 'positive_share' },
] as const

function PromptTable({
  prompts,
  sort,
  onSort,
}: {
  prompts: Prompt[]
  sort: PromptSort
  onSort: (sort: PromptSort) => void
}) {
  return (
    <div className="table-frame">
      <table className="table prompts-table">
        <thead>
          <tr>
            {columns.map((column) => (
              <SortHeader key={column.sort} {...column} current={sort} onSort={onSort} />
            ))}
            <th scope="col">Verdict on it</th>
          </tr>
        </thead>
        <tbody>
          {prompts.map((prompt) => (
            <PromptRow key={prompt.id} prompt={prompt} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function SortHeader({
  name,
  sort,
  first,
  current,
  onSort,
}: {
  name: string
  sort: PromptSort
  first: PromptSort
  current: PromptSort
  onSort: (sort: PromptSort) => void
}) {
  const direction = current === sort ? 'ascending' : current === `-${sort}` ? 'descending' : undefined
  const next = direction === undefined ? first : direction === 'ascending' ? (`-${sort}` as PromptSort) : sort
  return (
    <th scope="col" aria-sort={direction}>
      <button type="button" className="sort-button" onClick={() => onSort(next)}>
        {name}
        {direction === 'ascending' && <ArrowUp aria-hidden="true" />}
        {direction === 'descending' && <ArrowDown aria-hidden="true" />}
      </button>
    </th>
  )
}

function PromptRow({ prompt }: { prompt: Prompt }) {
  const { id, name, path, last_change: last, verdict, signals } = prompt
  const count = signals.positive + signals.negative
  return (
    <tr>
      <th scope="row">
        <Link className="row-link" href={`/prompts/${id}`}>
          {name}
        </Link>
        {path !== null && path !== name && <span className="path">{path}</span>}
      </th>
      <td data-label="Last change">
        {last === null ? (
          <span className="quiet">None yet</span>
        ) : (
          <span className="last-change">
            <ActionIcon action={last.action} />
            <span>
              {last.user.name}
              <span className="quiet">
                <Time at={last.created_at} as="ago" />
              </span>
            </span>
          </span>
        )}
      </td>
      <td data-label="Signals, 30 days">
        <span className="trend">
          <Sparkline days={signals.days} />
          <span className="number">{count.toLocaleString()}</span>
        </span>
      </td>
      <td data-label="Positive">
        <Share tally={signals} />
      </td>
      <td data-label="Verdict on it">{verdict !== null && <Verdict verdict={verdict} />}</td>
    </tr>
  )
}

const pause = 250

function SearchField({ q, onSearch }: { q: string; onSearch: (text: string) => void }) {
  const [text, setText] = useState(q)
  useEffect(() => setText(q), [q])
  useEffect(() => {
    if (text === q) return
    const timer = setTimeout(() => onSearch(text), pause)
    return () => clearTimeout(timer)
  }, [text, q, onSearch])
  return (
    <search className="search-field">
      <Search aria-hidden="true" />
      <input
        type="search"
        aria-label="Search prompts"
        placeholder="Name or path"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </search>
  )
}

function NothingFound({ q }: { q: string }) {
  return (
    <Empty title="Nothing found">
      <p>No prompt has “{q}” in its name or its path.</p>
    </Empty>
  )
}

const connectCommand =
  'promptledger repo connect --org 1 --forge github --url https://github.com/acme/prompts.git --path "prompts/**/*.md"'

function NoPrompts({ admin }: { admin: boolean }) {
  return (
    <Empty title="No prompts yet">
      <p>
        Connect the git repository that your prompts are in: each file becomes a prompt, each commit and pull request an
        entry of its history.
      </p>
      {admin ? (
        <Link className="button primary" href="/repositories?connect">
          Connect a repository
        </Link>
      ) : (
        <p className="quiet">This takes a key of the role admin, or whoever runs the service:</p>
      )}
      <pre>{connectCommand}</pre>
    </Empty>
  )
}

const sorts = columns.flatMap(({ sort }) => [sort, `-${sort}` as const])

function sortOf(text: string | null): PromptSort {
  return sorts.find((sort) => sort === text) ?? 'name'
}
