import type { Repository } from '@promptledger/client'
import { Link } from 'wouter'
import { Time } from '../ui/time.tsx'
import { forgeNames } from './forges.ts'
import { Size } from './size.tsx'
import { RepositoryStateBadge } from './state.tsx'
import { Url } from './url.tsx'

export function RepositoryTable({ repositories }: { repositories: Repository[] }) {
  return (
    <div className="table-frame">
      <table className="table repository-table">
        <caption className="unseen">Repositories</caption>
        <thead>
          <tr>
            <th scope="col">Repository</th>
            <th scope="col">Files</th>
            <th scope="col">State</th>
            <th scope="col">Found</th>
            <th scope="col">Last sync</th>
          </tr>
        </thead>
        <tbody>
          {repositories.map((repository) => (
            <RepositoryRow key={repository.id} repository={repository} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function RepositoryRow({ repository }: { repository: Repository }) {
  const { id, url, forge, path, state, last_sync_at: lastSyncAt, last_error: lastError } = repository
  return (
    <tr className={state === 'disconnected' ? 'dimmed' : undefined}>
      <th scope="row">
        <Link className="row-link" href={`/repositories/${id}`}>
          <Url url={url} />
        </Link>
        <span className="quiet small">{forgeNames[forge]}</span>
      </th>
      <td data-label="Files">
        <code>{path}</code>
      </td>
      <td data-label="State" className="repository-state">
        <RepositoryStateBadge state={state} />
        {state === 'failing' && lastError !== null && <span className="repository-error">{lastError}</span>}
      </td>
      <td data-label="Found" className="nowrap">
        <Size repository={repository} />
      </td>
      <td data-label="Last sync" className="nowrap">
        {lastSyncAt === null ? <span className="quiet">None yet</span> : <Time at={lastSyncAt} as="ago" />}
      </td>
    </tr>
  )
}
