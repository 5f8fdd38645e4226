import type { Repository } from '@promptledger/client'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { CopyField } from '../ui/copy-field.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { InitialFocus } from '../ui/initial-focus.tsx'
import { Notice } from '../ui/notice.tsx'
import { Time } from '../ui/time.tsx'

interface Props {
  repository: Repository
  onClose: () => void
}

export function RotateWebhookSecret({ repository, onClose }: Props) {
  const [hasLeaked, setHasLeaked] = useState(false)
  const rotation = useMutation({
    mutationFn: () => ledger.repositories.rotateSecret(repository.id, { overlap_hours: hasLeaked ? 0 : 24 }),
    gcTime: 0,
  })
  if (rotation.data === undefined) {
    return (
      <ConfirmDialog
        title="Rotate the webhook secret?"
        confirmLabel="Rotate secret"
        mutation={rotation}
        onConfirm={() => rotation.mutate()}
        onClose={onClose}
      >
        <p className="confirm-subject">
          <code>{repository.url}</code>
        </p>
        <p>
          Creates a new secret and shows it once. The old one stays valid for 24 hours, so that you have time to update
          the webhook on the forge.
        </p>
        <label className="leaked-secret">
          <input type="checkbox" checked={hasLeaked} onChange={({ target }) => setHasLeaked(target.checked)} />
          The old secret has leaked: reject it from now on
        </label>
      </ConfirmDialog>
    )
  }
  return (
    <Dialog title="New webhook secret" onClose={onClose}>
      <div className="form">
        <InitialFocus>
          <Notice tone="caution">Copy the secret now. It will not be shown again.</Notice>
        </InitialFocus>
        <CopyField label="Webhook secret" value={rotation.data.webhook_secret} />
        <CopyField label="Webhook URL" value={rotation.data.webhook_url} />
        <p>
          Enter it in the webhook's settings on the forge. The old secret stays valid until{' '}
          <Time at={rotation.data.old_secret_until} />.
        </p>
        <div className="form-actions">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
