import type { Repository } from '@promptledger/client'

/** How much was found in a repository so far. */
export function Size({ prompts, entries }: Pick<Repository, 'prompts' | 'entries'>) {
  return (
    <span className="number">
      {counted(prompts, 'prompt', 'prompts')}, {counted(entries, 'entry', 'entries')}
    </span>
  )
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`
}
