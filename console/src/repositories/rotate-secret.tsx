import type { Repository } from '@promptledger/client'
import { useMutation } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import { Start } from '../ui/start.tsx'
import { Time } from '../ui/time.tsx'

interface Props {
  repository: Repository
  onClose: () => void
}

export function RotateSecret({ repository, onClose }: Props) {
  const rotation = useMutation({
    mutationFn: () => ledger.repositories.rotateSecret(repository.id),
    gcTime: 0,
  })
  if (rotation.data === undefined) {
    return (
      <Confirm
        title="Rotate the webhook's secret?"
        act="Rotate the secret"
        state={rotation}
        onConfirm={() => rotation.mutate()}
        onClose={onClose}
      >
        <p className="confirm-subject">
          <code>{repository.url}</code>
        </p>
        <p>
          A new secret is made, and shown once. The old one counts for another day, so that you can change it on the
          forge.
        </p>
      </Confirm>
    )
  }
  return (
    <Dialog title="The new secret" onClose={onClose}>
      <div className="form">
        <Start>
          <Notice tone="caution">Copy it now: it is shown only this once.</Notice>
        </Start>
        <Copy label="Webhook secret" text={rotation.data.webhook_secret} />
        <Copy label="Webhook address" text={rotation.data.webhook_url} />
        <p>
          Put it in the webhook's settings on the forge. The old one counts until{' '}
          <Time at={rotation.data.old_secret_until} />.
        </p>
        <div className="form-end">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
