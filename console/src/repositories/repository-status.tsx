import type { RepositoryState } from '@promptledger/client'
import { CircleAlert, CircleCheck, LoaderCircle, Unplug } from 'lucide-react'
import { Badge } from '../ui/badge.tsx'

const badges = {
  connecting: { tone: 'caution', label: 'Connecting', icon: LoaderCircle },
  following: { tone: 'good', label: 'Connected', icon: CircleCheck },
  failing: { tone: 'bad', label: 'Failing', icon: CircleAlert },
  disconnected: { tone: 'plain', label: 'Disconnected', icon: Unplug },
} as const

export function RepositoryStatusBadge({ state }: { state: RepositoryState }) {
  const { tone, label, icon } = badges[state]
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  )
}
