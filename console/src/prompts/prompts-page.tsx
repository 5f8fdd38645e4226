import type { PromptSort, SessionInfo } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { Suspense, useCallback } from 'react'
import { Link } from 'wouter'
import { lazyPage } from '../lazy-page.tsx'
import { usePageTitle } from '../page-head.tsx'
import { textSearchPath } from '../prompt/prompt-path.ts'
import { emailOf } from '../sessions/rights.ts'
import { useSetUp } from '../setup/set-up-state.ts'
import { Button } from '../ui/button.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { useUrlParams } from '../url-params.ts'
import { NeedsAttention } from './needs-attention.tsx'
import { listFrom, PromptTable, worstFirst } from './prompt-table.tsx'
import { promptsQuery } from './prompts-query.ts'
import { SearchField } from './search-field.tsx'

interface Props {
  session: SessionInfo
  onSetUp: () => void
}

function NoPrompts({ session: { organisation, key }, onSetUp }: Props) {
  if (key.prompts !== null) {
    return (
      <EmptyState title="No prompts yet">
        <p>
          No prompt matches <code>{key.prompts}</code>, which your key is limited to.
        </p>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No prompts yet">
      <p>
        Connect the git repository that holds the prompts of <UntrustedText text={organisation.name} />. Each file
        becomes a prompt, and its commits and pull requests become its history.
      </p>
      {key.role === 'admin' ? (
        <div className="page-actions">
          <Link className="button primary" href="/repositories?connect">
            Connect a repository
          </Link>
          <Button onClick={onSetUp}>Set up step by step</Button>
        </div>
      ) : (
        <p>This requires an admin key. Ask your administrator.</p>
      )}
      <p>Or run this on the server:</p>
      <CodeBlock code={connectCommand(organisation.id)} what="command" />
    </EmptyState>
  )
}

/** With a public example of a URL, which has to be replaced. */
function connectCommand(organisationId: number): string {
  return `promptledger repo connect --org ${organisationId} --forge github --url https://github.com/acme/prompts.git --path "prompts/**/*.md"`
}

function NoMatchingPrompts({ query }: { query: string }) {
  return (
    <EmptyState title="No matching prompts">
      <p>
        No prompt has “<UntrustedText text={query} />” in its name or path.
      </p>
      <p>
        <Link href={textSearchPath(query)}>Search in the texts of all prompts</Link>
      </p>
    </EmptyState>
  )
}

const labels: Partial<Record<PromptSort, string>> = {
  regression: 'Worst first',
  name: 'Name, A to Z',
  '-name': 'Name, Z to A',
  '-last_change': 'Newest change',
  last_change: 'Oldest change',
  '-signals': 'Most signals',
  signals: 'Fewest signals',
  positive_share: 'Lowest positive share',
  '-positive_share': 'Highest positive share',
  effect: 'Effect, worst first',
  '-effect': 'Effect, best first',
}

/** The order in words. On a phone, where tables have no header, it is the only way to sort. */
function SortField({ sort, onSort }: { sort: PromptSort; onSort: (sort: PromptSort) => void }) {
  return (
    <select
      className="sort-field"
      aria-label="Sort prompts"
      value={sort}
      onChange={({ target }) => onSort(target.value as PromptSort)}
    >
      {Object.entries(labels).map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

// Most visits are to an organisation that is set up.
const SetUp = lazyPage(async () => (await import('../on-demand.ts')).SetUp)

/** Home: what needs attention, how to set up a new organisation, and all prompts. */
export function PromptsPage({ session }: { session: SessionInfo }) {
  usePageTitle('Prompts')
  const [params, setParams] = useUrlParams()
  const list = listFrom(params)
  const { q, sort } = list
  const isAdmin = session.key.role === 'admin'
  const prompts = useQuery(promptsQuery(list))
  const setUp = useSetUp(session, q === '' ? (prompts.data?.data ?? []) : [])
  const search = useCallback((text: string) => setParams({ q: text, page: null }, { replace: true }), [setParams])
  const sortBy = (next: PromptSort) => setParams({ sort: next === worstFirst ? null : next, page: null })
  const hasPrompts = q !== '' || prompts.data?.pagination.total_count !== 0
  return (
    <>
      <h1 className="visually-hidden">Home</h1>
      {hasPrompts && <NeedsAttention isAdmin={isAdmin} email={emailOf(session)} calm={!setUp.isShown && <Calm />} />}
      {setUp.isShown && (
        <Suspense>
          <SetUp session={session} state={setUp} />
        </Suspense>
      )}
      {(hasPrompts || !setUp.isShown) && (
        <section aria-labelledby="prompts">
          <div className="page-head prompts-head">
            <h2 id="prompts">All prompts</h2>
            {hasPrompts && (
              <div className="prompts-tools">
                <SortField sort={sort} onSort={sortBy} />
                <SearchField query={q} onSearch={search} />
              </div>
            )}
          </div>
          <PromptTable
            query={prompts}
            empty={q === '' ? <NoPrompts session={session} onSetUp={setUp.show} /> : <NoMatchingPrompts query={q} />}
            sort={sort}
            onSort={sortBy}
          />
        </section>
      )}
    </>
  )
}

function Calm() {
  return (
    <p className="attention-none">
      <CircleCheck aria-hidden="true" />
      Nothing needs attention
    </p>
  )
}
