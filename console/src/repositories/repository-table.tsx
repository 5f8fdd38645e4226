import type { Page, Repository } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import { Fragment } from 'react'
import { Link } from 'wouter'
import { EmptyState } from '../ui/empty-state.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { forgeLabels } from './forges.ts'
import { isRejecting } from './rejected-deliveries.tsx'
import { RepositoryContents } from './repository-contents.tsx'
import { RepositoryStatusBadge } from './repository-status.tsx'

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
    cell: ({ last_sync_at: lastSyncAt }) =>
      lastSyncAt === null ? <span className="muted">None yet</span> : <Time at={lastSyncAt} as="relative" />,
  },
]

export function RepositoryTable({ query }: { query: UseQueryResult<Page<Repository>> }) {
  return (
    <PagedTable
      query={query}
      noun="repositories"
      caption="Repositories"
      columns={columns}
      rowKey={({ id }) => id}
      isDimmed={({ state }) => state === 'disconnected'}
      empty={<NoRepositories />}
    />
  )
}

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
