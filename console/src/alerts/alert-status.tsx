import type { AlertDeliveryState, AlertState } from '@promptledger/client'
import { Badge } from '../ui/badge.tsx'

const deliveryBadges = {
  pending: { tone: 'caution', children: 'Waiting' },
  sent: { tone: 'good', children: 'Sent' },
  failed: { tone: 'bad', children: 'Failed' },
  cancelled: { tone: 'plain', children: 'Cancelled' },
} as const

export function AlertStateBadge({ state }: { state: AlertState }) {
  return state === 'active' ? <Badge tone="good">Active</Badge> : <Badge tone="bad">Disabled</Badge>
}

export function AlertDeliveryBadge({ state }: { state: AlertDeliveryState }) {
  return <Badge {...deliveryBadges[state]} />
}
