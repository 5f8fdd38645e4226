import type { Alert } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Checkbox } from '../ui/field.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { refreshAlerts } from './alert-query.ts'

interface Props {
  alert: Alert
  onClose: () => void
}

export function RotateAlertSecret({ alert, onClose }: Props) {
  const queryClient = useQueryClient()
  const [hasLeaked, setHasLeaked] = useState(false)
  const rotation = useMutation({
    mutationFn: () => ledger.alerts.rotateSecret(alert.id, { overlap_hours: hasLeaked ? 0 : 24 }),
    onSuccess: () => refreshAlerts(queryClient),
    gcTime: 0,
  })
  if (rotation.data === undefined) {
    return (
      <ConfirmDialog
        title="Rotate the signing secret?"
        confirmLabel="Rotate secret"
        mutation={rotation}
        onConfirm={() => rotation.mutate()}
        onClose={onClose}
      >
        <p className="confirm-subject">
          <UntrustedText text={alert.name} />
        </p>
        <p>
          Creates a new secret and shows it once. For 24 hours, requests carry the signatures of both secrets, so that
          you have time to update the receiver.
        </p>
        <Checkbox checked={hasLeaked} onChange={setHasLeaked}>
          The old secret has leaked: stop signing with it now
        </Checkbox>
      </ConfirmDialog>
    )
  }
  const { secret, old_secret_until: oldSecretUntil } = rotation.data
  return (
    <SecretDialog
      title="New signing secret"
      label="Signing secret"
      secret={secret}
      recovery="rotate it once more"
      onClose={onClose}
    >
      <p>
        {hasLeaked ? (
          'Requests are signed with this secret alone from now on.'
        ) : (
          <>
            Requests are also signed with the old secret until <Time at={oldSecretUntil} />.
          </>
        )}
      </p>
    </SecretDialog>
  )
}
