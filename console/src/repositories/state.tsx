import type { RepositoryState } from '@promptledger/client'
import { CircleAlert, CircleCheck, LoaderCircle, Unplug } from 'lucide-react'
import { Badge } from '../ui/badge.tsx'

const badges = {
  connecting: { tone: 'caution', name: 'Connecting', icon: LoaderCircle },
  following: { tone: 'good', name: 'Following', icon: CircleCheck },
  failing: { tone: 'bad', name: 'Failing', icon: CircleAlert },
  disconnected: { tone: 'plain', name: 'Disconnected', icon: Unplug },
} as const

export function RepositoryStateBadge({ state }: { state: RepositoryState }) {
  const { tone, name, icon } = badges[state]
  return (
    <Badge tone={tone} icon={icon}>
      {name}
    </Badge>
  )
}
