import type { Repository, RepositoryState } from '@promptledger/client'
import { CircleAlert, CircleCheck, LoaderCircle, Unplug } from 'lucide-react'
import { Badge } from '../ui/badge.tsx'
import { countOf } from '../ui/number.ts'

const badges = {
  connecting: { tone: 'caution', children: 'Connecting', icon: LoaderCircle },
  following: { tone: 'good', children: 'Connected', icon: CircleCheck },
  failing: { tone: 'bad', children: 'Failing', icon: CircleAlert },
  disconnected: { tone: 'plain', children: 'Disconnected', icon: Unplug },
} as const

export function RepositoryStatusBadge({ state }: { state: RepositoryState }) {
  return <Badge {...badges[state]} />
}

type Counts = Pick<Repository, 'prompt_count' | 'entry_count'>

/** How many prompts and history entries have been read from a repository so far. */
export function RepositoryContents({ prompt_count: prompts, entry_count: entries }: Counts) {
  return (
    <span className="number">
      {countOf(prompts, 'prompt')}, {countOf(entries, 'entry', 'entries')}
    </span>
  )
}
