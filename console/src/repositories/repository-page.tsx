import type { Repository } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { KeyRound, Pencil, RefreshCw, Unplug } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { SubjectHead, usePageTitle } from '../page-head.tsx'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { FormError } from '../ui/form-error.tsx'
import { existing, PageState } from '../ui/load-state.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { Deliveries } from './deliveries.tsx'
import { EditRepository } from './edit-repository.tsx'
import { RepositoryDetails } from './repository-details.tsx'
import { refreshRepositories, useRepository } from './repository-query.ts'
import { RepositoryStatusBadge } from './repository-status.tsx'
import { RotateWebhookSecret } from './rotate-webhook-secret.tsx'

export function RepositoryPage({ id }: { id: number }) {
  const { repository, sync, isSyncing } = useSync(id)
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'disconnect' | null>(null)
  usePageTitle(repository.data?.url ?? 'Repository')
  const data = existing(repository)
  if (data === undefined) return <PageState query={repository} what="the repository" />
  const isConnected = data.state !== 'disconnected'
  return (
    <>
      <SubjectHead
        breadcrumbs={<Link href="/repositories">Repositories</Link>}
        title={<UntrustedText text={shortName(data.url)} />}
        badge={<RepositoryStatusBadge state={data.state} />}
      >
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
      </SubjectHead>
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

const syncTimeoutMs = 60_000

/** A repository, and a way to sync it now. A sync has finished once the repository reports another sync or error than before. */
function useSync(id: number) {
  const queryClient = useQueryClient()
  const [requested, setRequested] = useState<{ before: Repository; at: number } | null>(null)
  const isInProgress = ({ last_sync_at: lastSyncAt, last_error: lastError }: Repository) =>
    requested !== null &&
    lastSyncAt === requested.before.last_sync_at &&
    lastError === requested.before.last_error &&
    Date.now() - requested.at < syncTimeoutMs
  const repository = useRepository(id, isInProgress)
  const sync = useMutation({
    mutationFn: (_before: Repository) => ledger.repositories.sync(id),
    onSuccess: async (_response, before) => {
      setRequested({ before, at: Date.now() })
      await refreshRepositories(queryClient)
    },
  })
  return { repository, sync, isSyncing: repository.data !== undefined && isInProgress(repository.data) }
}

interface Props {
  repository: Repository
  onClose: () => void
}

function DisconnectRepository({ repository, onClose }: Props) {
  const queryClient = useQueryClient()
  const disconnection = useMutation({
    mutationFn: () => ledger.repositories.disconnect(repository.id),
    onSuccess: () => refreshRepositories(queryClient),
  })
  return (
    <ConfirmDialog
      title="Disconnect this repository?"
      confirmLabel="Disconnect"
      mutation={disconnection}
      onConfirm={() => disconnection.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p className="confirm-subject">
        <code>
          <UntrustedText text={repository.url} />
        </code>
      </p>
      <p>
        Its changes will no longer be recorded, its webhook will be rejected, and its token will be deleted. Its prompts
        and their history stay.
      </p>
    </ConfirmDialog>
  )
}
