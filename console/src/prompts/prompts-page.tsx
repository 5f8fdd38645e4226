import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { usePageTitle } from '../page-title.ts'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { NoMatchingPrompts, NoPrompts } from './no-prompts.tsx'
import { PromptTable, sortFrom } from './prompt-table.tsx'
import { SearchField } from './search-field.tsx'

export function PromptsPage({ isAdmin }: { isAdmin: boolean }) {
  usePageTitle('Prompts')
  const [params, setParams] = useUrlParams()
  const page = pageFrom(params)
  const q = params.get('q') ?? ''
  const sort = sortFrom(params)
  const prompts = useQuery({
    queryKey: ['prompts', { page, q, sort }],
    queryFn: async ({ signal }) => await ledger.prompts.list({ page, q, sort }, { signal }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <div className="page-head">
        <h1>Prompts</h1>
        <SearchField query={q} onSearch={(text) => setParams({ q: text, page: null })} />
      </div>
      <PromptTable
        query={prompts}
        empty={q === '' ? <NoPrompts isAdmin={isAdmin} /> : <NoMatchingPrompts query={q} />}
        sort={sort}
        onSort={(next) => setParams({ sort: next === 'name' ? null : next, page: null })}
      />
    </>
  )
}
