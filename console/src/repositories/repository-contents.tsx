import type { Repository } from '@promptledger/client'
import { countOf } from '../ui/number.ts'

type Counts = Pick<Repository, 'prompt_count' | 'entry_count'>

/** How many prompts and history entries have been read from a repository so far. */
export function RepositoryContents({ prompt_count: prompts, entry_count: entries }: Counts) {
  return (
    <span className="number">
      {countOf(prompts, 'prompt')}, {countOf(entries, 'entry', 'entries')}
    </span>
  )
}
