import type { Actor } from '../access/audit.ts'
import { DomainError, invalidField } from '../errors.ts'
import { randomBase62 } from '../random.ts'
import { validLine } from '../text.ts'
import { hour, type Instant } from '../time.ts'
import { checkPattern } from './path-pattern.ts'
import type { RepositorySettings } from './settings.ts'

export const forgeNames = ['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket'] as const

export type ForgeName = (typeof forgeNames)[number]

/** A connected git repository, whose prompt files are synced. */
export interface Repository extends RepositorySettings {
  id: number
  organisationId: number
  forge: ForgeName
  url: string
  /** A glob that selects the prompt files. */
  path: string
  /** The minimum similarity, in percent, for a file that was moved and edited to keep its prompt. */
  similarity: number
  /** The last segment of the webhook URL. */
  hookId: string
  sealedToken: string | null
  /** The private half of the deploy key; null without one. */
  sealedSshKey: string | null
  sshPublicKey: string | null
  /** The only key of the ssh server that is accepted, as `type base64`. */
  sshHostKey: string | null
  /** Connected with the CLI: may be at a private address and be fetched with the machine's ssh keys. */
  connectedByOperator: boolean
  sealedSecret: string
  /** The previous webhook secret, valid until `oldSecretUntil`. */
  sealedOldSecret: string | null
  oldSecretUntil: Instant | null
  /** Null while the repository has no commits. */
  defaultBranch: string | null
  /** The commit on the default branch up to which history has been derived. */
  tip: string | null
  /** The repository's web page, if a delivery included it. */
  webUrl: string | null
  /** How the forge identifies the repository, from its first delivery. Survives renames and transfers. */
  forgeId: string | null
  /** Whether the remote lacks its oldest commits, as a shallow clone does. */
  incomplete: boolean
  /**
   * Pull requests with lower numbers have not been compared with the default branch yet, where that takes their branches. Null if all
   * have been.
   */
  unreadPullsBelow: number | null
  lastDeliveryAt: Instant | null
  /** Webhook requests whose signature was missing or wrong. */
  rejectedDeliveries: number
  lastRejectedAt: Instant | null
  /** Why the newest of them was rejected. */
  lastRejection: string | null
  lastSyncAt: Instant | null
  lastError: string | null
  /** When the next sync is due. */
  dueAt: Instant
  /** Counts sync requests, so one that arrives during a sync is not lost. */
  wakes: number
  /** Why the last report on a pull request failed. Null if it succeeded. */
  reportError: string | null
  /** Why some of its live texts are not delivered. */
  deliveryError: string | null
  /** About how many bytes its edits take in the database. */
  historyBytes: number
  createdAt: Instant
  disconnectedAt: Instant | null
}

type NewRepository = Pick<
  Repository,
  'organisationId' | 'forge' | 'url' | 'path' | 'similarity' | 'hookId' | 'sealedToken' | 'sealedSecret' | 'createdAt'
> &
  Partial<DeployKeyFields & RepositorySettings>

/** What can change about a connected repository. */
export type RepositoryChange = Pick<Repository, 'url' | 'sealedToken' | 'connectedByOperator'> &
  RepositorySettings &
  DeployKeyFields

/** All null without a deploy key. */
export type DeployKeyFields = Pick<Repository, 'sealedSshKey' | 'sshPublicKey' | 'sshHostKey'>

export const repositoryStates = ['connecting', 'following', 'failing', 'disconnected'] as const

type RepositoryState = (typeof repositoryStates)[number]

export function repositoryState({ disconnectedAt, lastError, lastSyncAt }: Repository): RepositoryState {
  if (disconnectedAt !== null) return 'disconnected'
  if (lastError !== null) return 'failing'
  return lastSyncAt === null ? 'connecting' : 'following'
}

// A working repository is synced every hour, and a failed sync is retried every ten minutes.
export const staleAfterMs = 2 * hour

/** Whether the history is out of date: no sync of a connected repository has succeeded for more than two hours. */
export function isStale({ disconnectedAt, lastSyncAt, createdAt }: Repository, now: Instant): boolean {
  return disconnectedAt === null && now - (lastSyncAt ?? createdAt) > staleAfterMs
}

export function checkConnected({ disconnectedAt }: Repository): void {
  if (disconnectedAt !== null)
    throw new DomainError('conflict', 'This repository is disconnected. Connect it again first.')
}

export interface RepositoryStore {
  /**
   * Reconnecting a disconnected repository with the same path and URL, in whatever spelling, restores its prompts and history.
   * Returns null if it is connected already. With `lease`, the caller holds the lease from the start. Rejects if the organisation already has
   * `maxRepositories` connected ones.
   */
  connect(
    repository: NewRepository,
    by: Actor,
    lease?: { owner: string; until: Instant },
    maxRepositories?: number,
  ): Promise<Repository | null>
  /** Whether any organisation ever connected a repository. */
  hasAny(): Promise<boolean>
  find(id: number): Promise<Repository | null>
  findByHook(hookId: string): Promise<Repository | null>
  list(organisationId: number): Promise<Repository[]>
  /** Rejects if it is disconnected, was changed meanwhile, or if another repository has the new URL with the same path. */
  update(repository: Repository, change: RepositoryChange, at: Instant, by: Actor): Promise<Repository>
  disconnect(repository: Repository, at: Instant, by: Actor): Promise<void>
  rotateSecret(
    repository: Repository,
    secret: { sealed: string; oldUntil: Instant },
    at: Instant,
    by: Actor,
  ): Promise<Repository>
  /** Across all organisations: how many repositories are stale, and the oldest last successful sync (or connection). */
  staleness(now: Instant): Promise<{ stale: number; oldestSyncAt: Instant | null }>
  /** Requests a sync as soon as possible. */
  wake(repository: Repository, at: Instant): Promise<void>
  /** Requests a sync of every connected repository, spread over so many slots. */
  wakeAll(at: Instant, spread: { slots: number; intervalMs: number }): Promise<void>
  /** Adds rejected webhook requests. */
  recordRejections(repository: Pick<Repository, 'id' | 'organisationId'>, rejections: Rejections): Promise<void>
}

/** Webhook requests that were rejected, and the newest of them. */
export interface Rejections {
  count: number
  lastAt: Instant
  reason: string
}

const maxPatternLength = 500

/** A glob for prompt files, relative to the root of the repository. */
export function validPathPattern(text: string): string {
  validLine('path', text, maxPatternLength)
  if (text.startsWith('/') || text.split('/').includes('..')) {
    throw invalidField('path', 'must be relative to the root of the repository, such as prompts/**/*.md')
  }
  checkPattern(text)
  return text
}

/** The similarity, in percent, at which git itself takes a new file for a moved one. */
export const defaultSimilarity = 50

export function validSimilarity(value: number): number {
  if (!Number.isInteger(value) || value < 1 || value > 100) {
    throw invalidField('similarity', 'must be a whole number from 1 to 100')
  }
  return value
}

export function generateHookId(): string {
  return randomBase62(24)
}

/** Whether the text has the form of a hook ID. Filters out text that PostgreSQL could not even look up. */
export function isHookId(text: string): boolean {
  return /^[0-9A-Za-z]{24}$/.test(text)
}
