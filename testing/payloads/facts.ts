import { createHmac } from 'node:crypto'

// Deliveries as the forges send them: every field that matters to the service, and those that could mislead it.

export type ForgeName = 'github' | 'gitlab' | 'gitea' | 'forgejo' | 'bitbucket'

export interface Delivery {
  headers: Record<string, string>
  body: Buffer
}

export interface PushFacts {
  /** `main` by default. */
  branch?: string
  /** A full ref instead of a branch, such as a tag's. */
  ref?: string
  before: string | null
  after: string | null
  /** Oldest first. */
  commits?: { sha: string; message?: string; author?: { name: string; email: string }; at?: string }[]
  pusher?: string
  defaultBranch?: string
  forced?: boolean
}

export interface PullFacts {
  action:
    | 'opened'
    | 'updated'
    | 'retargeted'
    | 'reopened'
    | 'closed'
    | 'merged'
    | 'unclear'
    | 'draft_opened'
    | 'ready_for_review'
    | 'labeled'
  number: number
  head: string
  /** `feature` by default. */
  headBranch?: string
  fork?: { owner: string; deleted?: boolean }
  /** `main` by default. */
  base?: string
  previousBase?: string
  mergeCommit?: string | null
  /** The commit of GitHub's trial merge, which is on no branch. */
  testMergeCommit?: string | null
  commitCount?: number
  /** The commit that Gitea compares the head with; one that git does not have by default. */
  mergeBase?: string
  openedAt?: string
  at?: string
  author?: string | null
  actor?: string | null
  title?: string
  defaultBranch?: string
  /** With the action `labeled`: the labels before and after. */
  labels?: { before: string[]; after: string[] }
}

export interface Message {
  event: string
  body: object
}

export interface Shape {
  push(facts: PushFacts): Message
  pull(facts: PullFacts): Message
  /** An event that the service ignores. */
  ping(): Message
  headers(event: string, body: Buffer, secret: string, deliveryId: string): Record<string, string>
}

/** The web page of the repository in a forge's deliveries. */
export function repositoryPage(forge: ForgeName): string {
  return `https://${forge}.example/acme/prompts`
}

export const owner = 'acme'
export const repositoryName = 'prompts'
export const fullName = `${owner}/${repositoryName}`
export const repositoryId = 4711
export const forkId = 4712
export const firstInstant = '2026-03-02T09:00:00Z'
export const nextInstant = '2026-03-02T10:00:00Z'
export const testMerge = 'decade0000000000000000000000000000decade'

export function hmac(secret: string, body: Buffer): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** A missing commit is written as zeros, as many as the other commit has digits. */
export function endsOf({ before, after }: PushFacts): { before: string; after: string } {
  const none = '0'.repeat((before ?? after)?.length ?? 40)
  return { before: before ?? none, after: after ?? none }
}

export function refOf({ ref, branch = 'main' }: PushFacts): string {
  return ref ?? `refs/heads/${branch}`
}

export interface Commit {
  sha: string
  message: string
  author: { name: string; email: string }
  at: string
}

export function commitsOf({ commits = [] }: PushFacts): Commit[] {
  const author = { name: 'Ada Lovelace', email: 'ada@acme.example' }
  return commits.map((commit) => ({ message: 'Change a prompt\n', author, at: firstInstant, ...commit }))
}

export interface Details {
  headBranch: string
  base: string
  mergeCommit: string | null
  openedAt: string
  at: string
  author: string | null
  actor: string | null
  title: string
  defaultBranch: string
  isOpening: boolean
  isMerged: boolean
  isClosed: boolean
}

export function detailsOf(facts: PullFacts): Details {
  const isOpening = facts.action === 'opened' || facts.action === 'draft_opened'
  const openedAt = facts.openedAt ?? (isOpening ? facts.at : undefined) ?? firstInstant
  const author = facts.author === undefined ? 'ada' : facts.author
  return {
    headBranch: facts.headBranch ?? 'feature',
    base: facts.base ?? 'main',
    mergeCommit: facts.mergeCommit ?? null,
    openedAt,
    at: facts.at ?? (isOpening ? openedAt : nextInstant),
    author,
    actor: facts.actor === undefined ? (isOpening ? author : 'grace') : facts.actor,
    title: facts.title ?? 'Change a prompt',
    defaultBranch: facts.defaultBranch ?? 'main',
    isOpening,
    isMerged: facts.action === 'merged',
    isClosed: facts.action === 'merged' || facts.action === 'closed',
  }
}
