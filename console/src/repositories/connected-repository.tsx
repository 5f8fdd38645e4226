import type { ConnectedRepository } from '@promptledger/client'
import { Button } from '../ui/button.tsx'
import { CopyField } from '../ui/copy-field.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { InitialFocus } from '../ui/initial-focus.tsx'
import { Notice } from '../ui/notice.tsx'
import { BackfillProgress } from './backfill-progress.tsx'
import { WebhookSteps } from './webhook-steps.tsx'

interface Props {
  connected: ConnectedRepository
  onClose: () => void
}

/** Follows the connect form: shows the backfill, how to set up the webhook, and its secret, once. */
export function ConnectedRepositoryDialog({ connected, onClose }: Props) {
  return (
    <Dialog title="Repository connected" onClose={onClose}>
      <div className="form">
        <InitialFocus>
          <BackfillProgress connected={connected} />
        </InitialFocus>
        <p>Add a webhook for instant updates. Until then we check hourly.</p>
        <CopyField label="Webhook URL" value={connected.webhook_url} />
        <CopyField label="Webhook secret" value={connected.webhook_secret} />
        <Notice tone="caution">The secret will not be shown again. If you lose it, rotate it.</Notice>
        <h3>Set up the webhook</h3>
        <WebhookSteps steps={connected.set_up} />
        <div className="form-actions">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
