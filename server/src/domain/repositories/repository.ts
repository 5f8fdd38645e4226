import type { Actor } from '../access/audit.ts'
import { DomainError, invalid } from '../errors.ts'
import { randomBase62 } from '../random.ts'
import { validLine } from '../text.ts'
import type { Instant } from '../time.ts'

export const forgeNames = ['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket'] as const

export type ForgeName = (typeof forgeNames)[number]

/** A git repository whose prompts we follow. */
export interface Repository {
  id: number
  organisationId: number
  forge: ForgeName
  url: string
  /** Which files are prompts, as a glob. */
  path: string
  /** How much of a file must stay, in per cent, for a move with changes to keep its prompt. */
  similarity: number
  /** The last part of the address that the forge sends deliveries to. */
  hookId: string
  sealedToken: string | null
  sealedSecret: string
  /** The secret before, which counts on until `oldSecretUntil`. */
  sealedOldSecret: string | null
  oldSecretUntil: Instant | null
  /** Null as long as there is no commit. */
  defaultBranch: string | null
  /** The commit of the default branch up to which history is derived. */
  tip: string | null
  /** The repository's page, where a delivery told it. */
  webUrl: string | null
  /** The repository was given to us without its oldest commits. */
  incomplete: boolean
  lastDeliveryAt: Instant | null
  lastSyncAt: Instant | null
  lastError: string | null
  /** When there is something to do next. */
  dueAt: Instant
  /** How often work was asked for. */
  wakes: number
  createdAt: Instant
  disconnectedAt: Instant | null
}

export type NewRepository = Pick<
  Repository,
  'organisationId' | 'forge' | 'url' | 'path' | 'similarity' | 'hookId' | 'sealedToken' | 'sealedSecret' | 'createdAt'
>

export const repositoryStates = ['connecting', 'following', 'failing', 'disconnected'] as const

export type RepositoryState = (typeof repositoryStates)[number]

export function stateOfRepository({ disconnectedAt, lastError, lastSyncAt }: Repository): RepositoryState {
  if (disconnectedAt !== null) return 'disconnected'
  if (lastError !== null) return 'failing'
  return lastSyncAt === null ? 'connecting' : 'following'
}

export function checkConnected({ disconnectedAt }: Repository): void {
  if (disconnectedAt !== null) throw new DomainError('conflict', 'This repository is disconnected.')
}

const minute = 60_000
const hour = 60 * minute

/** How far ahead such a time may lie. One that lies further was set before the clock went back, and has come. */
export const maxFuture = { lease: minute, look: 2 * hour, attempt: 24 * hour }

/** Whether there is something to do by now. */
export function isDue({ dueAt }: Pick<Repository, 'dueAt'>, now: Instant): boolean {
  return dueAt <= now || dueAt > now + maxFuture.look
}

/** The right to work on a repository: whoever holds it is the only one, until it runs out. */
export interface Lease {
  repository: Repository
  owner: string
}

/** A name for whoever works on repositories: no two workers ever have the same. */
export function newLeaseOwner(): string {
  return randomBase62(16)
}

export interface RepositoryStore {
  /**
   * One that was connected before, with the same address and files, comes back with its prompts and its history. Null where
   * it is connected now. Whoever connects it may hold the lease from the start.
   */
  connect(repository: NewRepository, by: Actor, lease?: { owner: string; until: Instant }): Promise<Repository | null>
  find(id: number): Promise<Repository | null>
  findByHook(hookId: string): Promise<Repository | null>
  list(organisationId: number): Promise<Repository[]>
  disconnect(repository: Repository, at: Instant, by: Actor): Promise<void>
  rotateSecret(
    repository: Repository,
    secret: { sealed: string; oldUntil: Instant },
    at: Instant,
    by: Actor,
  ): Promise<Repository>
  /** Asks for a sync as soon as possible. */
  wake(repository: Repository, at: Instant): Promise<void>
  /** Connected ones with something to do that nobody is working on, the longest waiting first. */
  due(now: Instant): Promise<number[]>
  /** Null where somebody else holds it. */
  lease(id: number, owner: string, now: Instant, until: Instant): Promise<Lease | null>
  /** False where the lease was lost. */
  renew(lease: Lease, until: Instant): Promise<boolean>
  /** Gives the lease back, with when there is something to do next and, where it went wrong, why. */
  release(lease: Lease, outcome: { dueAt: Instant; error: string | null; syncedAt: Instant | null }): Promise<void>
}

// No part of it begins with a dash, which ssh or git could take for an option.
const branchlessSsh = /^\w[\w.-]*@\w[\w.-]*:[^-:\s][^:\s]*$/

/** An address that git may be given; `allowLocal` lets folders of this machine pass. */
export function repositoryUrl(text: string, allowLocal: boolean): string {
  validLine('url', text, 2_000)
  if (branchlessSsh.test(text)) return text
  if (isLocal(text)) {
    if (allowLocal) return text
    throw invalid('url must not be a folder of this machine, unless ALLOW_LOCAL_REPOSITORIES=1 says that it may be')
  }
  const url = URL.parse(text)
  // The parser is more lenient than git, which would take https:host/path for a path on the host https, and what stands before a
  // backslash for a part of the user.
  if (url === null || !/^(https|ssh):\/\/[^/\\]+(\/[^\\]*)?$/.test(text) || url.host.includes('%')) {
    throw invalid('url must be an https://, ssh:// or git@host:path address')
  }
  if (url.host.startsWith('-') || /^(-|%2d)/i.test(url.username)) throw invalid('url must not contain a leading dash')
  if (url.password !== '' || (url.protocol === 'https:' && url.username !== '')) {
    throw invalid('url must not contain a user or password: give the token by itself')
  }
  if (url.search !== '' || url.hash !== '') throw invalid('url must end with the path of the repository')
  return text
}

/** Whether the address is a folder of this machine. */
export function isLocal(url: string): boolean {
  return url.startsWith('/') || url.startsWith('file:///')
}

/** The repository's page, as far as its address tells. */
export function webUrlOf({ webUrl, url }: Pick<Repository, 'webUrl' | 'url'>): string {
  if (webUrl !== null) return webUrl
  const path = url.replace(/\/+$/, '').replace(/\.git$/, '')
  if (path.startsWith('/')) return `file://${path}`
  const [, host, rest] = /^(?:ssh:\/\/)?[\w.-]+@([\w.-]+)(?::\d+)?[:/](.+)$/.exec(path) ?? []
  return host === undefined ? path : `https://${host}/${rest}`
}

/** Which files are prompts: a path from the top of the repository, in which `*` and `**` stand for anything. */
export function pathPattern(text: string): string {
  validLine('path', text, 1_000)
  if (text.startsWith('/') || text.split('/').includes('..')) {
    throw invalid('path must be a path from the top of the repository, such as prompts/**/*.md')
  }
  return text
}

export function similarityPercent(value: number): number {
  if (!Number.isInteger(value) || value < 1 || value > 100)
    throw invalid('similarity must be a whole number from 1 to 100')
  return value
}

export function newHookId(): string {
  return randomBase62(24)
}

/** Whether the text could be one; the others need not be looked up, and some could not be. */
export function isHookId(text: string): boolean {
  return /^[0-9A-Za-z]{24}$/.test(text)
}
