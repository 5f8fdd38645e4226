import { hash } from 'node:crypto'
import { invalidField } from '../errors.ts'
import { validLine } from '../text.ts'
import type { Instant } from '../time.ts'
import type { HiddenStatus } from './hidden-characters.ts'

export const actions = ['deployed', 'pr_opened', 'pr_merged', 'pr_closed'] as const

export type Action = (typeof actions)[number]

export interface HistoryEntry {
  id: number
  action: Action
  user: { name: string; email: string }
  commitSha: string
  prNumber: number | null
  prUrl: string | null
  branchName: string
  createdAt: Instant
}

/** An entry that is not stored yet. Entries of one prompt with the same `dedupeKey` are recorded only once. */
export type NewHistoryEntry = Omit<HistoryEntry, 'id'> & { dedupeKey: string }

/** An entry with everything known about the change. Null means unknown. */
export interface EntryDetails extends HistoryEntry {
  message: string | null
  /** The forge user who pushed, opened, merged or closed it. */
  actor: string | null
  path: string | null
  oldPath: string | null
  /** Git blob IDs of the prompt before and after the change. */
  beforeBlob: string | null
  afterBlob: string | null
  repositoryId: number | null
  /** The key that recorded the entry over the API. */
  keyId: number | null
  /** The commit or pull request exceeds the limits of a sync, so not everything about it was recorded. */
  tooLarge: boolean
  /** What the last check of the prompt's text found. */
  hiddenCharacters: HiddenStatus | null
}

const noPullRequest = 'must be null for deployed, which involves no pull request'

/** Validates an entry that was submitted through the API or the CLI rather than derived from git. */
export function newHistoryEntry(input: Omit<HistoryEntry, 'id'>): NewHistoryEntry {
  validLine('user.name', input.user.name, 1_000)
  validLine('user.email', input.user.email, 1_000)
  validLine('branchName', input.branchName, 1_000)
  const commitSha = validCommitSha(input.commitSha)
  checkPullRequest(input)
  const entry = { ...input, commitSha }
  // The prefix is stored data: it keeps these keys apart from those of derived entries.
  return { ...entry, dedupeKey: `told:${fingerprint(entry)}` }
}

/** In lower case, as git prints it. */
export function validCommitSha(text: string): string {
  const commitSha = text.toLowerCase()
  if (isFullSha(commitSha)) return commitSha
  throw invalidField('commitSha', 'must be the full commit hash, 40 or 64 hexadecimal digits')
}

export function isFullSha(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}

function checkPullRequest({ action, prNumber, prUrl }: Omit<HistoryEntry, 'id'>): void {
  if (action === 'deployed') {
    if (prNumber !== null) throw invalidField('prNumber', noPullRequest)
    if (prUrl !== null) throw invalidField('prUrl', noPullRequest)
    return
  }
  if (prNumber === null) throw invalidField('prNumber', `is required for ${action}`)
  if (!Number.isSafeInteger(prNumber) || prNumber < 1) throw invalidField('prNumber', 'must be a positive integer')
  if (prUrl === null) throw invalidField('prUrl', `is required for ${action}`)
  if (!isWebUrl(prUrl)) throw invalidField('prUrl', 'must be an http or https URL')
  validLine('prUrl', prUrl, 2_000)
}

export function isWebUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:')
}

function fingerprint(entry: Omit<HistoryEntry, 'id'>): string {
  const { action, user, commitSha, prNumber, prUrl, branchName, createdAt } = entry
  const facts = [action, user.name, user.email, commitSha, prNumber, prUrl, branchName, createdAt]
  return hash('sha256', JSON.stringify(facts), 'base64url')
}
