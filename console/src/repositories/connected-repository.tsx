import type { ConnectedRepository } from '@promptledger/client'
import { CopyField } from '../ui/copy-field.tsx'
import { Notice } from '../ui/notice.tsx'
import { ResultDialog } from '../ui/result-dialog.tsx'
import { BackfillProgress } from './backfill-progress.tsx'
import { Warnings } from './warnings.tsx'
import { WebhookSteps } from './webhook-steps.tsx'

interface Props {
  connected: ConnectedRepository
  onClose: () => void
}

/** Follows the connect form: shows the backfill, how to set up the webhook, and its secret, once. */
export function ConnectedRepositoryDialog({ connected, onClose }: Props) {
  return (
    <ResultDialog title="Repository connected" lead={<BackfillProgress connected={connected} />} onClose={onClose}>
      <Warnings warnings={connected.warnings} />
      {connected.ssh_public_key !== null && (
        <>
          <p>Add this deploy key to the repository on the forge, with read access only.</p>
          <CopyField label="Deploy key" value={connected.ssh_public_key} />
        </>
      )}
      <p>Add a webhook for instant updates. Until then we check hourly.</p>
      <CopyField label="Webhook URL" value={connected.webhook_url} />
      <CopyField label="Webhook secret" value={connected.webhook_secret} />
      <Notice tone="caution">The secret will not be shown again. If you lose it, rotate it.</Notice>
      <h3>Set up the webhook</h3>
      <WebhookSteps steps={connected.set_up} />
    </ResultDialog>
  )
}
