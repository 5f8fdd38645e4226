import type { Actor } from '../domain/access/audit.ts'
import { DomainError, invalid } from '../domain/errors.ts'
import {
  type ForgeName,
  type Lease,
  newHookId,
  newLeaseOwner,
  pathPattern,
  type Repository,
  repositoryUrl,
  similarityPercent,
} from '../domain/repositories/repository.ts'
import { forgeOf } from '../forges/index.ts'
import { readRemoteHead } from '../git/remote.ts'
import { GitError } from '../git/run.ts'
import { remoteOf, type SyncContext } from './sync-context.ts'
import { leaseUntil } from './worker.ts'

export interface Connection {
  organisationId: number
  forge: ForgeName
  url: string
  path: string
  similarity: number
  token: string | null
  /** Null to have one made. */
  secret: string | null
}

export interface Connected {
  /** Held by the caller, who is expected to do the first sync. */
  lease: Lease
  defaultBranch: string | null
  secret: string
}

/** Begins to follow a repository, once git has been able to read it. */
export async function connectRepository(follow: SyncContext, connection: Connection, by: Actor): Promise<Connected> {
  const { store, vault, clock } = follow
  const url = repositoryUrl(connection.url, follow.allowLocal)
  const path = pathPattern(connection.path)
  const similarity = similarityPercent(connection.similarity)
  const sealedToken = connection.token === null ? null : vault.seal(connection.token)
  const secret = connection.secret ?? forgeOf(connection.forge).newSecret()
  const { branch } = await readHead(follow, { url, forge: connection.forge, sealedToken })
  const now = clock()
  const owner = newLeaseOwner()
  const repository = await store.repositories.connect(
    {
      organisationId: connection.organisationId,
      forge: connection.forge,
      url,
      path,
      similarity,
      hookId: newHookId(),
      sealedToken,
      sealedSecret: vault.seal(secret),
      createdAt: now,
    },
    by,
    { owner, until: leaseUntil(now) },
  )
  if (repository === null) {
    const message = 'This repository is connected already, with the same path. If its secret is lost, rotate it.'
    throw new DomainError('conflict', message)
  }
  return { lease: { repository, owner }, defaultBranch: branch, secret }
}

async function readHead(follow: SyncContext, repository: Pick<Repository, 'url' | 'forge' | 'sealedToken'>) {
  try {
    return await readRemoteHead(remoteOf(follow, repository))
  } catch (error) {
    if (error instanceof GitError) throw invalid(`url cannot be read: ${reason(error)}`)
    throw error
  }
}

function reason({ message, stderr }: GitError): string {
  if (/could not read Username|Authentication failed|terminal prompts disabled|403/i.test(stderr)) {
    return 'the server wants a token that may read it, or there is no such repository'
  }
  if (/redirect|returned error: 30\d/i.test(stderr)) {
    return 'it has moved: use its new address (redirects are not followed unless ALLOW_REPOSITORY_REDIRECTS=1)'
  }
  return message
}

/** Puts a new secret in the place of the old one, which counts on for a while. */
export async function rotateSecret(
  { store, vault, clock }: SyncContext,
  repository: Repository,
  overlap: number,
  by: Actor,
): Promise<string> {
  const secret = forgeOf(repository.forge).newSecret()
  const now = clock()
  await store.repositories.rotateSecret(repository, { sealed: vault.seal(secret), oldUntil: now + overlap }, now, by)
  return secret
}
