import type { HistoryEntry } from '@promptledger/client'
import { actionLabels } from '../ui/action-icon.tsx'
import { parseMessage } from './commit-message.ts'

/** What a change is called: the title of its message, or what happened. */
export function titleOf({ action, pr_number: number, commit_sha: sha }: HistoryEntry, message: string | null): string {
  const fallback = `${actionLabels[action]} ${number === null ? sha.slice(0, 7) : `#${number}`}`
  return parseMessage(message).title ?? fallback
}
