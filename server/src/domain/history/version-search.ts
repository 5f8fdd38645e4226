import { invalidField } from '../errors.ts'
import { isLongerThan } from '../text.ts'
import type { HistoryEntry } from './entry.ts'

/** What a search for versions looks at. */
export interface SearchText extends Pick<HistoryEntry, 'id' | 'user' | 'commitSha' | 'prNumber'> {
  /** The start of the message. */
  message: string | null
}

/** Of a message, this many characters are searched. */
export const searchedLength = 1_000
const maxSearchLength = 200

export function wordsOf(search: string): string[] {
  if (isLongerThan(search, maxSearchLength)) throw invalidField('q', `must have at most ${maxSearchLength} characters`)
  return search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
}

/** Whether the author, the message, the commit or the pull request (`#42`) matches each word. Ignores case. */
export function matchesWords({ user, message, commitSha, prNumber }: SearchText, words: readonly string[]): boolean {
  const texts = [user.name, user.email, message ?? ''].map((text) => text.toLowerCase())
  const pull = prNumber === null ? null : `#${prNumber}`
  return words.every((word) => pull === word || commitSha.startsWith(word) || texts.some((text) => text.includes(word)))
}
