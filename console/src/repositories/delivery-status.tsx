import type { Delivery } from '@promptledger/client'
import { Badge } from '../ui/badge.tsx'

const badges = {
  pending: { tone: 'caution', label: 'Pending' },
  done: { tone: 'good', label: 'Processed' },
  ignored: { tone: 'plain', label: 'Ignored' },
  failed: { tone: 'bad', label: 'Failed' },
} as const

export function DeliveryStatusBadge({ state }: { state: Delivery['state'] }) {
  const { tone, label } = badges[state]
  return <Badge tone={tone}>{label}</Badge>
}
