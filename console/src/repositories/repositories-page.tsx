import type { Repository } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { Fragment } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { PageHead } from '../page-head.tsx'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import type { Column } from '../ui/table.tsx'
import { TimeOr } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { ConnectRepository } from './connect-repository.tsx'
import { forgeLabels } from './forges.ts'
import { isRejecting } from './repository-notices.tsx'
import { pollIntervalMs } from './repository-query.ts'
import { RepositoryContents, RepositoryStatusBadge } from './repository-status.tsx'

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
      <PagedTable
        query={repositories}
        noun="repositories"
        caption="Repositories"
        columns={columns}
        rowKey={({ id }) => id}
        isDimmed={({ state }) => state === 'disconnected'}
        empty={<NoRepositories />}
      />
      {params.has('connect') && <ConnectRepository onClose={() => setParams({ connect: null }, { replace: true })} />}
    </>
  )
}

const columns: Column<Repository>[] = [
  { header: 'Repository', className: 'repository-name', cell: (repository) => <Name {...repository} /> },
  {
    header: 'Prompt files',
    className: 'repository-path',
    cell: ({ path }) => (
      <code>
        <UntrustedText text={path} />
      </code>
    ),
  },
  { header: 'Status', className: 'status-cell', cell: (repository) => <Status {...repository} /> },
  { header: 'Contents', className: 'nowrap', cell: (repository) => <RepositoryContents {...repository} /> },
  {
    header: 'Last sync',
    className: 'nowrap',
    cell: ({ last_sync_at: at }) => <TimeOr at={at} as="relative" none="None yet" />,
  },
]

function Name({ id, url, forge }: Repository) {
  return (
    <>
      <Link className="row-link" href={`/repositories/${id}`}>
        <RepositoryUrl url={url} />
      </Link>
      <span className="cell-note muted">
        {forgeLabels[forge]}, ID {id}
      </span>
    </>
  )
}

function Status(repository: Repository) {
  const { state, stale, last_error: error } = repository
  return (
    <>
      <RepositoryStatusBadge state={state} />
      {stale && <span className="cell-note muted">Out of date: no successful sync for 2 hours</span>}
      {isRejecting(repository) && <span className="cell-note muted">Deliveries are rejected: wrong signature</span>}
      {state === 'failing' && error !== null && (
        <span className="cell-error">
          <UntrustedText text={error} />
        </span>
      )}
    </>
  )
}

function NoRepositories() {
  return (
    <EmptyState title="No repositories connected">
      <p>
        Connect the git repository that holds your prompts. Each file becomes a prompt, and its commits and pull
        requests become its history. From then on, every push shows up within seconds.
      </p>
    </EmptyState>
  )
}

/** Lets a long URL wrap after its slashes. */
function RepositoryUrl({ url }: { url: string }) {
  return url.split('/').map((part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other identity, and their order is fixed.
    <Fragment key={i}>
      {i > 0 && (
        <>
          /<wbr />
        </>
      )}
      <UntrustedText text={part} />
    </Fragment>
  ))
}
