import type { PromptSort, SessionInfo } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { Suspense, useCallback } from 'react'
import { lazyPage } from '../lazy-page.tsx'
import { usePageTitle } from '../page-title.ts'
import { useSetUp } from '../setup/set-up-state.ts'
import { useUrlParams } from '../url-params.ts'
import { NeedsAttention } from './needs-attention.tsx'
import { NoMatchingPrompts, NoPrompts } from './no-prompts.tsx'
import { listFrom, PromptTable, worstFirst } from './prompt-table.tsx'
import { promptsQuery } from './prompts-query.ts'
import { SearchField } from './search-field.tsx'
import { SortField } from './sort-field.tsx'

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
      {hasPrompts && <NeedsAttention isAdmin={isAdmin} calm={!setUp.isShown && <Calm />} />}
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
