import type { HistoryEntry } from '@promptledger/client'
import { actionLabels } from '../ui/action-icon.tsx'

/** What a change is called: the title of its message, or what happened. */
export function titleOf({ action, pr_number: number, commit_sha: sha }: HistoryEntry, message: string | null): string {
  const fallback = `${actionLabels[action]} ${number === null ? sha.slice(0, 7) : `#${number}`}`
  return parseMessage(message).title ?? fallback
}

// Forges start merge messages with this line; the title of the pull request follows below.
const mergeLine = /^(Merge pull request|Merge branch|Merged in) /

/** Splits a commit message into the title of the change and its body. The title is null if the message is empty. */
export function parseMessage(message: string | null): { title: string | null; body: string } {
  const lines = message?.split('\n') ?? []
  const first = lines.findIndex((line) => line.trim() !== '')
  const second = lines.findIndex((line, i) => i > first && line.trim() !== '')
  const titleIndex = second !== -1 && mergeLine.test(lines[first] ?? '') ? second : first
  return {
    title: lines[titleIndex]?.trim() ?? null,
    body: lines
      .slice(titleIndex + 1)
      .join('\n')
      .trim(),
  }
}

type Change = Pick<HistoryEntry, 'pr_number' | 'commit_sha' | 'user'>

/** A change in a few words: its pull request or commit, and its author. */
export function changeLabel({ pr_number: number, commit_sha: sha, user }: Change): string {
  return `${number === null ? sha.slice(0, 7) : `#${number}`} by ${user.name}`
}
