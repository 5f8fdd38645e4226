import { hash } from 'node:crypto'
import { invalid } from '../errors.ts'
import { validLine } from '../text.ts'
import type { Instant } from '../time.ts'

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

/** An entry before it is stored. Two with the same `dedupeKey` on one prompt are the same entry, recorded once. */
export type NewHistoryEntry = Omit<HistoryEntry, 'id'> & { dedupeKey: string }

/** An entry with what else is known about the change; null where nobody told. */
export interface EntryDetails extends HistoryEntry {
  message: string | null
  /** Who did it at the forge: pushed, opened, merged or closed it. */
  actor: string | null
  path: string | null
  oldPath: string | null
  /** The versions of the prompt before and after, by the names that git gives to contents. */
  beforeBlob: string | null
  afterBlob: string | null
  repositoryId: number | null
}

const fullSha = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** The entry as told by a person or another system, once it is known to make sense. */
export function newHistoryEntry(told: Omit<HistoryEntry, 'id'>): NewHistoryEntry {
  validLine('user.name', told.user.name, 1_000)
  validLine('user.email', told.user.email, 1_000)
  validLine('branch_name', told.branchName, 1_000)
  const commitSha = told.commitSha.toLowerCase()
  if (!fullSha.test(commitSha)) {
    throw invalid('commit_sha must be the full commit hash, 40 or 64 hexadecimal digits')
  }
  checkPullRequest(told)
  const entry = { ...told, commitSha }
  return { ...entry, dedupeKey: `told:${fingerprint(entry)}` }
}

function checkPullRequest({ action, prNumber, prUrl }: Omit<HistoryEntry, 'id'>): void {
  if (action === 'deployed') {
    if (prNumber !== null) throw invalid('pr_number must be null for deployed: no pull request is involved')
    if (prUrl !== null) throw invalid('pr_url must be null for deployed: no pull request is involved')
    return
  }
  if (prNumber === null) throw invalid(`pr_number must be given for ${action}`)
  if (!Number.isSafeInteger(prNumber) || prNumber < 1) throw invalid('pr_number must be a positive integer')
  if (prUrl === null) throw invalid(`pr_url must be given for ${action}`)
  if (!isWebAddress(prUrl)) throw invalid('pr_url must be an http or https address')
  validLine('pr_url', prUrl, 2_000)
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:')
}

function fingerprint(entry: Omit<HistoryEntry, 'id'>): string {
  const { action, user, commitSha, prNumber, prUrl, branchName, createdAt } = entry
  const facts = [action, user.name, user.email, commitSha, prNumber, prUrl, branchName, createdAt]
  return hash('sha256', JSON.stringify(facts), 'base64url')
}
