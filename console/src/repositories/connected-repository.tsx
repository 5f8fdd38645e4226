import type { ConnectedRepository } from '@promptledger/client'
import { CopyField } from '../ui/copy-field.tsx'
import { ResultDialog } from '../ui/result-dialog.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { BackfillProgress } from './backfill-progress.tsx'
import { Warnings } from './warnings.tsx'
import { LocalFolderNotice, WebhookNotice } from './webhook-notice.tsx'
import { isLocalFolder } from './webhook-reach.ts'
import { WebhookSteps } from './webhook-steps.tsx'

interface Props {
  connected: ConnectedRepository
  onClose: () => void
}

const title = 'Repository connected'

/** Follows the connect form: shows the backfill, how to set up the webhook, and its secret, once. */
export function ConnectedRepositoryDialog({ connected, onClose }: Props) {
  const lead = <BackfillProgress connected={connected} />
  if (isLocalFolder(connected.url)) {
    return (
      <ResultDialog title={title} lead={lead} onClose={onClose}>
        <Warnings warnings={connected.warnings} />
        <LocalFolderNotice />
      </ResultDialog>
    )
  }
  return (
    <SecretDialog
      title={title}
      label="Webhook secret"
      secret={connected.webhook_secret}
      recovery="rotate it to get a new one"
      onClose={onClose}
      lead={
        <>
          {lead}
          <Warnings warnings={connected.warnings} />
          <p>Add a webhook for instant updates. Until then we check hourly.</p>
          <WebhookNotice repository={connected} />
        </>
      }
    >
      <CopyField label="Webhook URL" value={connected.webhook_url} />
      {connected.ssh_public_key !== null && (
        <>
          <p>Add this deploy key to the repository on the forge, with read access only.</p>
          <CopyField label="Deploy key" value={connected.ssh_public_key} />
        </>
      )}
      <h3>Set up the webhook</h3>
      <WebhookSteps steps={connected.set_up} />
    </SecretDialog>
  )
}
