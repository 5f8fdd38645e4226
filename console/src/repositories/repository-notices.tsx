import type { Repository } from '@promptledger/client'
import { Notice } from '../ui/notice.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { forgeLabels } from './forges.ts'
import { webhookProblem } from './webhook-reach.ts'

/** Warns if the forge cannot deliver to the webhook's URL, and says what to do. */
export function WebhookNotice({ repository }: { repository: Pick<Repository, 'forge' | 'url' | 'webhook_url'> }) {
  const { forge, url, webhook_url: webhookUrl } = repository
  const problem = webhookProblem(forgeLabels[forge], url, webhookUrl)
  if (problem === null) return null
  return (
    <Notice tone="caution">
      <p>
        <strong>
          <UntrustedText text={problem} />
        </strong>
      </p>
      <p>
        Start the service with <code>PUBLIC_URL</code> set to its address on the network of the forge, such as{' '}
        <code>https://ledger.example.com</code>. The secret stays the same. Until then, the history is checked every
        hour; pull requests appear once they are merged.
      </p>
    </Notice>
  )
}

/** For a folder on the server: why it needs no webhook, and what happens instead. */
export function LocalFolderNotice() {
  return (
    <Notice>
      This repository is a folder on the server, so no forge reports its changes. The service checks it every hour, and
      at once with <em>Sync now</em>.
    </Notice>
  )
}

/** Probable mistakes in a repository that was connected or changed. */
export function Warnings({ warnings }: { warnings: string[] }) {
  return warnings.map((warning) => (
    <Notice key={warning} tone="caution">
      <UntrustedText text={warning} />
    </Notice>
  ))
}

/** Whether the newest delivery was rejected: the webhook probably has another secret. */
export function isRejecting({
  state,
  last_rejected_at: rejectedAt,
  last_delivery_at: acceptedAt,
}: Repository): boolean {
  return state !== 'disconnected' && rejectedAt !== null && (acceptedAt === null || acceptedAt < rejectedAt)
}

export function RejectedNotice({ last_rejection: reason }: Repository) {
  return (
    <Notice tone="caution">
      <strong>The last delivery was rejected.</strong> Reason: <UntrustedText text={reason ?? ''} />. Compare the
      webhook’s secret on the forge, or rotate it here and enter the new one there.
    </Notice>
  )
}
