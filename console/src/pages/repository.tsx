import { NotFoundError } from '@promptledger/client'
import { KeyRound, RefreshCw, Unplug } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Deliveries } from '../repositories/deliveries.tsx'
import { Disconnect } from '../repositories/disconnect.tsx'
import { Facts } from '../repositories/facts.tsx'
import { RotateSecret } from '../repositories/rotate-secret.tsx'
import { RepositoryStateBadge } from '../repositories/state.tsx'
import { useSync } from '../repositories/sync.ts'
import { useTitle } from '../title.ts'
import { Button } from '../ui/button.tsx'
import { Failure } from '../ui/failure.tsx'
import { Loading } from '../ui/loading.tsx'
import { Refusal } from '../ui/refusal.tsx'
import { NotFoundPage } from './not-found.tsx'

export function RepositoryPage({ id }: { id: number }) {
  const { repository, sync, isSyncing } = useSync(id)
  const [open, setOpen] = useState<'rotate' | 'disconnect' | null>(null)
  useTitle(repository.data?.url ?? 'Repository')
  if (repository.error instanceof NotFoundError) return <NotFoundPage />
  if (repository.isError) return <Failure error={repository.error} retry={repository.refetch} />
  if (repository.isPending) return <Loading what="the repository" />
  const { data } = repository
  const isFollowed = data.state !== 'disconnected'
  return (
    <>
      <div className="page-head">
        <div>
          <nav className="crumbs" aria-label="Where this page is">
            <Link href="/repositories">Repositories</Link>
          </nav>
          <div className="titled-state">
            <h1>{nameOf(data.url)}</h1>
            <RepositoryStateBadge state={data.state} />
          </div>
        </div>
        {isFollowed && (
          <div className="page-acts">
            <Button busy={sync.isPending || isSyncing} onClick={() => sync.mutate(data)}>
              <RefreshCw aria-hidden="true" />
              {isSyncing ? 'Looking …' : 'Sync now'}
            </Button>
            <Button onClick={() => setOpen('rotate')}>
              <KeyRound aria-hidden="true" />
              Rotate secret
            </Button>
            <Button kind="danger" onClick={() => setOpen('disconnect')}>
              <Unplug aria-hidden="true" />
              Disconnect
            </Button>
          </div>
        )}
      </div>
      <Refusal error={sync.error} />
      <Facts repository={data} />
      <Deliveries repositoryId={id} isFollowed={isFollowed} />
      {open === 'rotate' && <RotateSecret repository={data} onClose={() => setOpen(null)} />}
      {open === 'disconnect' && <Disconnect repository={data} onClose={() => setOpen(null)} />}
    </>
  )
}

/** The end of its address, such as acme/prompts. */
function nameOf(url: string): string {
  const [, name] = /([^/:]+\/[^/:]+?)(?:\.git)?\/*$/.exec(url) ?? []
  return name ?? url
}
