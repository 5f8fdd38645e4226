import type { Repository } from '@promptledger/client'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { CopyField } from '../ui/copy-field.tsx'
import { Checkbox } from '../ui/field.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { WebhookNotice } from './repository-notices.tsx'
import { isLocalFolder } from './webhook-reach.ts'

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
          <code>
            <UntrustedText text={repository.url} />
          </code>
        </p>
        <p>
          Creates a new secret and shows it once. The old one stays valid for 24 hours, so that you have time to update
          the webhook on the forge.
        </p>
        <Checkbox checked={hasLeaked} onChange={setHasLeaked}>
          The old secret has leaked: reject it from now on
        </Checkbox>
      </ConfirmDialog>
    )
  }
  return (
    <SecretDialog
      title="New webhook secret"
      label="Webhook secret"
      secret={rotation.data.webhook_secret}
      recovery="rotate it once more"
      onClose={onClose}
    >
      <CopyField label="Webhook URL" value={rotation.data.webhook_url} />
      {!isLocalFolder(repository.url) && <WebhookNotice repository={repository} />}
      <p>
        Enter it in the webhook's settings on the forge.{' '}
        {hasLeaked ? (
          'The old secret is rejected from now on.'
        ) : (
          <>
            The old secret stays valid until <Time at={rotation.data.old_secret_until} />.
          </>
        )}
      </p>
    </SecretDialog>
  )
}
