import type { Repository } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { refreshRepositories } from './repository-query.ts'

interface Props {
  repository: Repository
  onClose: () => void
}

export function DisconnectRepository({ repository, onClose }: Props) {
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
