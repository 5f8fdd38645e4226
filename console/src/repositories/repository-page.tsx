import { NotFoundError } from '@promptledger/client'
import { KeyRound, Pencil, RefreshCw, Unplug } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-title.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { Deliveries } from './deliveries.tsx'
import { DisconnectRepository } from './disconnect-repository.tsx'
import { EditRepository } from './edit-repository.tsx'
import { RepositoryDetails } from './repository-details.tsx'
import { RepositoryStatusBadge } from './repository-status.tsx'
import { RotateWebhookSecret } from './rotate-webhook-secret.tsx'
import { useSync } from './sync.ts'

export function RepositoryPage({ id }: { id: number }) {
  const { repository, sync, isSyncing } = useSync(id)
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'disconnect' | null>(null)
  usePageTitle(repository.data?.url ?? 'Repository')
  if (repository.error instanceof NotFoundError) return <NotFoundPage />
  if (repository.isLoadingError) return <LoadError error={repository.error} retry={repository.refetch} />
  if (repository.isPending) return <Loading what="the repository" />
  const { data } = repository
  const isConnected = data.state !== 'disconnected'
  return (
    <>
      <div className="page-head">
        <div>
          <nav className="breadcrumbs" aria-label="Breadcrumbs">
            <Link href="/repositories">Repositories</Link>
          </nav>
          <div className="title-with-badge">
            <h1>
              <UntrustedText text={shortName(data.url)} />
            </h1>
            <RepositoryStatusBadge state={data.state} />
          </div>
        </div>
        {isConnected && (
          <div className="page-actions">
            <Button busy={sync.isPending || isSyncing} onClick={() => sync.mutate(data)}>
              <RefreshCw aria-hidden="true" />
              {isSyncing ? 'Syncing…' : 'Sync now'}
            </Button>
            <Button onClick={() => setDialog('edit')}>
              <Pencil aria-hidden="true" />
              Edit
            </Button>
            <Button onClick={() => setDialog('rotate')}>
              <KeyRound aria-hidden="true" />
              Rotate secret
            </Button>
            <Button kind="danger" onClick={() => setDialog('disconnect')}>
              <Unplug aria-hidden="true" />
              Disconnect
            </Button>
          </div>
        )}
      </div>
      <FormError error={sync.error} />
      <RepositoryDetails repository={data} />
      <Deliveries repositoryId={id} isConnected={isConnected} />
      {dialog === 'edit' && <EditRepository repository={data} onClose={() => setDialog(null)} />}
      {dialog === 'rotate' && <RotateWebhookSecret repository={data} onClose={() => setDialog(null)} />}
      {dialog === 'disconnect' && <DisconnectRepository repository={data} onClose={() => setDialog(null)} />}
    </>
  )
}

/** The end of the URL, such as acme/prompts. */
function shortName(url: string): string {
  const [, name] = /([^/:]+\/[^/:]+?)(?:\.git)?\/*$/.exec(url) ?? []
  return name ?? url
}
