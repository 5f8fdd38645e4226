import type { Repository } from '@promptledger/client'

type Counts = Pick<Repository, 'prompt_count' | 'entry_count'>

/** How many prompts and history entries have been read from a repository so far. */
export function RepositoryContents({ prompt_count: prompts, entry_count: entries }: Counts) {
  return (
    <span className="number">
      {count(prompts, 'prompt', 'prompts')}, {count(entries, 'entry', 'entries')}
    </span>
  )
}

function count(number: number, singular: string, plural: string): string {
  return `${number.toLocaleString()} ${number === 1 ? singular : plural}`
}
