import type { HistoryEntry } from '@promptledger/client'

type Change = Pick<HistoryEntry, 'pr_number' | 'commit_sha' | 'user'>

/** A change in a few words: its pull request or commit, and its author. */
export function changeLabel({ pr_number: number, commit_sha: sha, user }: Change): string {
  return `${number === null ? sha.slice(0, 7) : `#${number}`} by ${user.name}`
}
