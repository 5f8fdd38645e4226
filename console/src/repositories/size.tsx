import type { Repository } from '@promptledger/client'

/** How much was found in a repository so far. */
export function Size({ repository }: { repository: Pick<Repository, 'prompt_count' | 'entry_count'> }) {
  const { prompt_count: prompts, entry_count: entries } = repository
  return (
    <span className="number">
      {counted(prompts, 'prompt', 'prompts')}, {counted(entries, 'entry', 'entries')}
    </span>
  )
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`
}
