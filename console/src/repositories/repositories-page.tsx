import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { ledger } from '../ledger.ts'
import { PageHead } from '../page-head.tsx'
import { Button } from '../ui/button.tsx'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { ConnectRepository } from './connect-repository.tsx'
import { pollIntervalMs } from './repository-query.ts'
import { RepositoryTable } from './repository-table.tsx'

export function RepositoriesPage() {
  const [params, setParams] = useUrlParams()
  const page = pageFrom(params)
  const repositories = useQuery({
    queryKey: ['repositories', { page }],
    queryFn: async ({ signal }) => await ledger.repositories.list({ page }, { signal }),
    placeholderData: keepPreviousData,
    // Show the progress of a backfill.
    refetchInterval: ({ state: { data } }) =>
      data?.data.some(({ state }) => state === 'connecting') === true && pollIntervalMs,
  })
  return (
    <>
      <PageHead title="Repositories">
        <Button kind="primary" onClick={() => setParams({ connect: '1' })}>
          <Plus aria-hidden="true" />
          Connect a repository
        </Button>
      </PageHead>
      <RepositoryTable query={repositories} />
      {params.has('connect') && <ConnectRepository onClose={() => setParams({ connect: null }, { replace: true })} />}
    </>
  )
}
