import type { Delivery } from '@promptledger/client'
import { Badge } from '../ui/badge.tsx'

const badges = {
  pending: { tone: 'caution', name: 'Pending' },
  done: { tone: 'good', name: 'Done' },
  ignored: { tone: 'plain', name: 'Ignored' },
  failed: { tone: 'bad', name: 'Failed' },
} as const

export function DeliveryStateBadge({ state }: { state: Delivery['state'] }) {
  const { tone, name } = badges[state]
  return <Badge tone={tone}>{name}</Badge>
}
