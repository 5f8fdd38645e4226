import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { pageOf, useAddress } from '../address.ts'
import { ledger } from '../ledger.ts'
import { Connect } from '../repositories/connect.tsx'
import { RepositoryTable } from '../repositories/repository-table.tsx'
import { useTitle } from '../title.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Failure } from '../ui/failure.tsx'
import { Loading } from '../ui/loading.tsx'
import { Pager } from '../ui/pager.tsx'

const second = 1_000

export function RepositoriesPage() {
  useTitle('Repositories')
  const [address, change] = useAddress()
  const page = pageOf(address)
  const repositories = useQuery({
    queryKey: ['repositories', { page }],
    queryFn: async ({ signal }) => await ledger.repositories.list({ page }, { signal }),
    placeholderData: keepPreviousData,
    // While a history is being read, one sees it grow.
    refetchInterval: ({ state: { data } }) => data?.data.some(({ state }) => state === 'connecting') === true && second,
  })
  const connect = () => change({ connect: '1' })
  return (
    <>
      <div className="page-head">
        <h1>Repositories</h1>
        <Button kind="primary" onClick={connect}>
          <Plus aria-hidden="true" />
          Connect a repository
        </Button>
      </div>
      {repositories.isPending && <Loading what="repositories" />}
      {repositories.isError && <Failure error={repositories.error} retry={repositories.refetch} />}
      {repositories.data?.data.length === 0 && (
        <Empty title="No repository is connected">
          <p>
            Connect the git repository that your prompts are in: each file becomes a prompt, and its commits and pull
            requests become its history. From then on, every push shows up within seconds.
          </p>
        </Empty>
      )}
      {repositories.data && repositories.data.data.length > 0 && (
        <>
          <RepositoryTable repositories={repositories.data.data} />
          <Pager
            pagination={repositories.data.pagination}
            what="repositories"
            onPage={(next) => change({ page: next === 1 ? null : String(next) })}
          />
        </>
      )}
      {address.has('connect') && <Connect onClose={() => change({ connect: null })} />}
    </>
  )
}
