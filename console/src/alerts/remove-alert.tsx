import type { Alert } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { ledger } from '../ledger.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { channelLabels } from './channels.ts'

interface Props {
  alert: Alert
  onClose: () => void
}

export function RemoveAlert({ alert, onClose }: Props) {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const removal = useMutation({
    mutationFn: () => ledger.alerts.remove(alert.id),
    onSuccess: () => {
      // Not refreshed while its page is shown: it no longer exists.
      navigate('/alerts')
      queryClient.removeQueries({ queryKey: ['alerts', alert.id] })
      return queryClient.invalidateQueries({ queryKey: ['alerts'] })
    },
  })
  return (
    <ConfirmDialog
      title="Remove this alert?"
      confirmLabel="Remove"
      mutation={removal}
      onConfirm={() => removal.mutate()}
      onClose={onClose}
    >
      <p className="confirm-subject">
        <strong>
          <UntrustedText text={alert.name} />
        </strong>
        <span className="muted">
          {channelLabels[alert.channel]}, <UntrustedText text={alert.target_hint} />
        </span>
      </p>
      <p>Its target is deleted, and what is waiting to be sent to it is cancelled. Its deliveries stay in the list.</p>
    </ConfirmDialog>
  )
}
