import type { AlertDeliveryState, AlertState } from '@promptledger/client'
import { Badge } from '../ui/badge.tsx'

const deliveryBadges = {
  pending: { tone: 'caution', label: 'Waiting' },
  sent: { tone: 'good', label: 'Sent' },
  failed: { tone: 'bad', label: 'Failed' },
  cancelled: { tone: 'plain', label: 'Cancelled' },
} as const

export function AlertStateBadge({ state }: { state: AlertState }) {
  return state === 'active' ? <Badge tone="good">Active</Badge> : <Badge tone="bad">Disabled</Badge>
}

export function AlertDeliveryBadge({ state }: { state: AlertDeliveryState }) {
  const { tone, label } = deliveryBadges[state]
  return <Badge tone={tone}>{label}</Badge>
}
