import type { Actor } from '../domain/access/audit.ts'
import { invalidField } from '../domain/errors.ts'
import { generateLeaseOwner, type Lease } from '../domain/repositories/lease.ts'
import {
  generateHookId,
  type Repository,
  validPathPattern,
  validSimilarity,
} from '../domain/repositories/repository.ts'
import { alreadyConnected, type Connection, type RotatedSecret } from '../domain/repositories/repository-service.ts'
import { validRepositoryUrl } from '../domain/repositories/repository-url.ts'
import { forgeOf } from '../forges/index.ts'
import { readRemoteHead } from '../git/remote.ts'
import { GitError } from '../git/run.ts'
import { remoteOf, type SyncContext } from './sync-context.ts'
import { leaseUntil } from './worker.ts'

export interface Connected {
  /** The caller holds the lease and must run the first sync. */
  lease: Lease
  secret: string
}

/** Stores a new repository once git has been able to read it. */
export async function connectRepository(context: SyncContext, connection: Connection, by: Actor): Promise<Connected> {
  const { store, vault, clock } = context
  const url = validRepositoryUrl(connection.url, context.allowLocal)
  const path = validPathPattern(connection.path)
  const similarity = validSimilarity(connection.similarity)
  const sealedToken = connection.token === null ? null : vault.encrypt(connection.token)
  const secret = connection.secret ?? forgeOf(connection.forge).generateSecret()
  await checkReadable(context, { url, forge: connection.forge, sealedToken })
  const now = clock()
  const owner = generateLeaseOwner()
  const repository = await store.repositories.connect(
    {
      organisationId: connection.organisationId,
      forge: connection.forge,
      url,
      path,
      similarity,
      hookId: generateHookId(),
      sealedToken,
      sealedSecret: vault.encrypt(secret),
      createdAt: now,
    },
    by,
    { owner, until: leaseUntil(now) },
  )
  if (repository === null) throw alreadyConnected()
  return { lease: { repository, owner }, secret }
}

async function checkReadable(
  context: SyncContext,
  repository: Pick<Repository, 'url' | 'forge' | 'sealedToken'>,
): Promise<void> {
  try {
    await readRemoteHead(remoteOf(context, repository))
  } catch (error) {
    if (error instanceof GitError) throw invalidField('url', `cannot be read: ${reasonOf(error)}`)
    throw error
  }
}

function reasonOf({ message, stderr }: GitError): string {
  if (/could not read Username|Authentication failed|terminal prompts disabled|403/i.test(stderr)) {
    return 'the repository does not exist, or the server requires a token with read access'
  }
  if (/redirect|returned error: 30\d/i.test(stderr)) {
    return 'the repository has moved. Use its new URL (redirects are only followed with ALLOW_REPOSITORY_REDIRECTS=1)'
  }
  return message
}

export async function rotateSecret(
  { store, vault, clock }: SyncContext,
  repository: Repository,
  overlapMs: number,
  by: Actor,
): Promise<RotatedSecret> {
  const secret = forgeOf(repository.forge).generateSecret()
  const now = clock()
  const oldSecretUntil = now + overlapMs
  await store.repositories.rotateSecret(
    repository,
    { sealed: vault.encrypt(secret), oldUntil: oldSecretUntil },
    now,
    by,
  )
  return { secret, oldSecretUntil }
}
