import type { Repository } from '@promptledger/client'
import { Notice } from '../ui/notice.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'

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
