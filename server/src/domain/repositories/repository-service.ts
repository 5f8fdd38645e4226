import type { Actor } from '../access/audit.ts'
import { DomainError } from '../errors.ts'
import type { EntryDetails } from '../history/entry.ts'
import type { Prompt } from '../prompt.ts'
import type { ProposalFiles, ProposalMode } from '../proposals/proposal.ts'
import type { Excerpt } from '../texts/phrase.ts'
import type { Instant } from '../time.ts'
import type { Delivery, WebhookRequest } from './delivery.ts'
import type { ForgeName, Repository } from './repository.ts'
import type { SettingsUpdate } from './settings.ts'

/** The use cases of connected repositories, shared by the HTTP API and the CLI. */
export interface RepositoryService {
  /** Connects a repository that git can read, and starts its backfill. */
  connect(connection: Connection, by: Actor, backfill: BackfillOptions): Promise<ConnectedRepository>
  /** Changes the URL or credentials of a connected repository, if git can read it with them and it is the same repository. */
  update(repository: Repository, update: RepositoryUpdate, by: Actor): Promise<UpdatedRepository>
  /** Verifies the signature of a webhook request, stores the delivery and requests a sync. */
  receive(repository: Repository, request: WebhookRequest): Promise<void>
  /** Requests a sync, or runs it with `wait`. Rejects if the repository is disconnected. */
  sync(repository: Repository, options?: SyncOptions): Promise<Repository>
  /** Processes a delivery again. Rejects if its repository is disconnected. */
  redeliver(delivery: Delivery, options?: SyncOptions): Promise<Delivery>
  /** Replaces the webhook secret. The old one stays valid for `overlapMs`. */
  rotateSecret(repository: Repository, overlapMs: number, by: Actor): Promise<RotatedSecret>
  /** The texts before and after a change, from git. */
  contents(entry: EntryDetails): Promise<Contents>
  /** The text after a change that landed, and which commits last changed its lines, from git. */
  blame(entry: EntryDetails): Promise<Blame>
  /** The text of a prompt before its first recorded change; null unless the repository's older history is missing. */
  earliestText(prompt: Prompt, at: Instant): Promise<EarliestText | null>
  /** Looks for a phrase in these blobs, in order, for about `maxMs`, and at least in one of them. */
  searchTexts(repositoryId: number, blobs: string[], phrase: string, maxMs: number): Promise<FoundTexts>
  /** The texts of these blobs, as far as the mirror on this machine has them. */
  texts(repositoryId: number, blobs: string[], maxBytes: number): Promise<BlobTexts>
  /** How many bytes the texts that applications get may have in one organisation. */
  readonly deliveredBytes: number
  /** Has the mirror on this machine contain what is live, if the remote responds in time. */
  fetchLiveTexts(repositoryId: number, timeoutMs: number): Promise<void>
  /** What a pull request, by its number, or a commit, by its full hash, would change. */
  candidate(repositoryId: number, pullOrCommit: number | string): Promise<Candidate | NoCandidate>
  /** Pushes a branch that takes a change back, and nothing else. */
  pushUndo(request: UndoRequest): Promise<UndoResult>
  /** The git commands with which a person takes a change back. */
  undoCommands(request: Pick<UndoRequest, 'entry' | 'promptPath' | 'files' | 'branch'>): Promise<string[]>
  /** Stores counts of rejected webhook requests that are still only in memory. */
  flush(): Promise<void>
}

export interface Connection extends SettingsUpdate {
  organisationId: number
  forge: ForgeName
  url: string
  path: string
  similarity: number
  token: string | null
  /** The ssh key of this repository. */
  deployKey?: NewDeployKey | null
  /** The webhook secret; null to generate one. */
  secret: string | null
}

export interface NewDeployKey {
  /** Null to generate a key pair. */
  privateKey: string | null
  /** The key of the ssh server; null to record the one that it has now. */
  hostKey: string | null
}

/** What to change about a repository. Undefined keeps the current value. */
export interface RepositoryUpdate extends SettingsUpdate {
  url?: string | undefined
  /** Null removes the token. */
  token?: string | null | undefined
  /** A private ssh key. */
  sshKey?: string | undefined
  sshHostKey?: string | undefined
}

export interface UpdatedRepository {
  repository: Repository
  /** Probable mistakes. */
  warnings: string[]
}

export interface BackfillOptions {
  /** Stop waiting after this long; the backfill continues in the background. Without it, wait until the end. */
  waitMs?: number
  onProgress?: (progress: BackfillProgress) => void
  /** Called as soon as the repository is stored, before anything else can fail: the secret is not shown again. */
  onConnected?: (repository: Repository, secret: string) => void
}

export interface BackfillProgress {
  /** Recorded so far. */
  commits: number
  /** The date of the newest of them. */
  reachedAt: Instant
  /** The part of the history that has been read, from 0 to 1, according to the dates. */
  share: number
}

export interface ConnectedRepository {
  repository: Repository
  /** The webhook secret, which is not shown again. */
  secret: string
  /** The prompts and the number of entries so far. */
  prompts: Prompt[]
  entryCount: number
  /** Why the backfill failed; null if it succeeded or is still running. The service retries it. */
  backfillError: Error | null
  /** Probable mistakes. */
  warnings: string[]
}

interface SyncOptions {
  /** Sync in this process and resolve when done, instead of leaving it to the worker. */
  wait?: boolean
}

export interface RotatedSecret {
  secret: string
  oldSecretUntil: Instant
}

export function repositoryBusy(): DomainError {
  return new DomainError('conflict', 'This repository is being synced. Try again when the sync has finished.')
}

export function alreadyConnected(): DomainError {
  const message = 'This repository is already connected with the same path. If its secret is lost, rotate it.'
  return new DomainError('conflict', message)
}

export function tooManyRepositories(limit: number): DomainError {
  const message =
    `This organisation already has ${limit} connected repositories, the most it may have. Disconnect one, or ask the ` +
    'operator to raise REPOSITORIES_PER_ORGANISATION.'
  return new DomainError('conflict', message)
}

export function tooManyConnects(limit: number): DomainError {
  const message = `This organisation is already connecting ${limit} repositories. Retry when one of them has responded.`
  return new DomainError('conflict', message)
}

export const textStates = ['available', 'absent', 'too_large', 'unavailable'] as const

/** Why a text is null: the file did not exist, its text exceeds the limit, or git does not have it. */
type TextState = (typeof textStates)[number]

export const blameStates = ['available', 'absent', 'too_large', 'binary', 'not_landed', 'unavailable'] as const

/**
 * Why there is no blame: the change deleted the file, it exceeds a limit, it is no text, the change is not on the default branch, or
 * git does not have it.
 */
export type BlameState = (typeof blameStates)[number]

/** Both are empty unless the state is `available`. */
export interface Blame {
  state: BlameState
  text: string | null
  /** In the order of the lines. Lines count from 1, and `end` is the last of them. */
  lines: { start: number; end: number; commit: string }[]
}

export interface FoundTexts {
  /** How many of the blobs were examined. */
  examined: number
  /** Of those that contain the phrase. */
  excerpts: Map<string, Excerpt>
  /** Those that git does not have, or that are too large. */
  unreadable: string[]
}

/** A commit that may be tried. */
export interface Candidate {
  commitSha: string
  /** The IDs of the texts of prompts in the commit, by path. */
  blobs: Map<string, string>
  /** The paths of prompts that differ from where the commit left the default branch. */
  changed: string[]
  /** Whether the default branch has the commit. */
  isMerged: boolean
  /** Whether a branch of the repository ends with it. The branches of forks are not the repository's. */
  isOwnBranch: boolean
}

/** Why there is no candidate: the repository does not have it, the pull request is merged or closed, or git failed. */
export type NoCandidate = 'unknown' | 'closed' | { unreadable: string }

/** Which change to take back, and how. */
export interface UndoRequest {
  entry: EntryDetails
  /** Where the prompt's file is now. */
  promptPath: string
  mode: ProposalMode
  files: ProposalFiles
  /** The branch to create. */
  branch: string
  message: string
  person: { name: string; email: string }
  /** The date of the commit. */
  at: Instant
}

export type UndoResult =
  | { kind: 'pushed' }
  /** The branch exists: an earlier attempt pushed it. */
  | { kind: 'exists' }
  /** Later changes touch the same lines of these files. */
  | { kind: 'overlap'; paths: string[] }
  /** The default branch does not have the change any more. */
  | { kind: 'undone' }
  /** The change has more files than we take back. */
  | { kind: 'too_large' }
  /** The token or deploy key may not push. */
  | { kind: 'denied' }
  /** A rule of the repository protects branches of this name. */
  | { kind: 'protected' }
  | { kind: 'failed'; reason: string }

export interface BlobTexts {
  texts: Map<string, string>
  /** Blobs of more bytes than asked for, and those that are no text. */
  tooLarge: string[]
}

export interface EarliestText {
  path: string
  text: string | null
  state: TextState
}

/** The texts are null unless their state is `available`. */
export interface Contents {
  before: string | null
  after: string | null
  beforeState: TextState
  afterState: TextState
  /** Null if a text that it needs is, or if it exceeds the limit. */
  patch: string | null
}
