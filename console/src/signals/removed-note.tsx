import type { SignalsOfChange } from '@promptledger/client'
import { Notice } from '../ui/notice.tsx'
import { formatNumber } from '../ui/number.ts'

/** Says that the figures of a change count signals that cannot be listed any more. */
export function RemovedNote({ change }: { change: SignalsOfChange | undefined }) {
  if (change === undefined || change.removed === 0) return null
  const { counted, removed, side } = change
  return (
    <Notice>
      {formatNumber(counted)} signals count as {side} this change. Retention has removed {formatNumber(removed)} of
      them: they still count, and are not in this list.
    </Notice>
  )
}
