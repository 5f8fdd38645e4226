import type { Actor } from '../domain/access/audit.ts'
import { connectionWarnings } from '../domain/repositories/connection-warnings.ts'
import { checkForge } from '../domain/repositories/forge-host.ts'
import { generateLeaseOwner, type Lease } from '../domain/repositories/lease.ts'
import {
  generateHookId,
  type Repository,
  validPathPattern,
  validSimilarity,
} from '../domain/repositories/repository.ts'
import {
  alreadyConnected,
  type Connection,
  type RotatedSecret,
  tooManyConnects,
  tooManyRepositories,
} from '../domain/repositories/repository-service.ts'
import { validRepositoryUrl } from '../domain/repositories/repository-url.ts'
import { initialSettings, updatedSettings } from '../domain/repositories/settings.ts'
import { forgeOf } from '../forges/index.ts'
import { moveMirror } from '../git/mirror.ts'
import { checkAccess } from './check-access.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'
import { leaseUntil } from './worker.ts'

export interface Connected {
  /** The caller holds the lease and must run the first sync. */
  lease: Lease
  secret: string
  /** What is probably a mistake. */
  warnings: string[]
}

/** Stores a new repository once git has been able to read it. */
export async function connectRepository(context: SyncContext, connection: Connection, by: Actor): Promise<Connected> {
  const { store, vault, clock, allowLocal, allowHttp = false } = context
  const url = validRepositoryUrl(connection.url, { allowLocal, allowHttp })
  checkForge(connection.forge, url)
  const path = validPathPattern(connection.path)
  const similarity = validSimilarity(connection.similarity)
  const settings = updatedSettings(initialSettings, connection)
  const maxRepositories = context.limits.repositories
  const known = await store.repositories.list(connection.organisationId)
  const connected = known.filter((each) => each.disconnectedAt === null)
  // Checked again when it is stored; checked here first, so that no git process is started in vain.
  if (connected.length >= maxRepositories) throw tooManyRepositories(maxRepositories)
  const secret = connection.secret ?? forgeOf(connection.forge).generateSecret()
  const hookId = generateHookId()
  const credentials = await checkAccess(context, { ...connection, hookId, url }, by)
  const now = clock()
  const owner = generateLeaseOwner()
  const repository = await store.repositories.connect(
    {
      organisationId: connection.organisationId,
      forge: connection.forge,
      url,
      path,
      similarity,
      ...settings,
      hookId,
      ...credentials,
      sealedSecret: vault.encrypt(secret, { hookId, kind: 'webhook_secret' }),
      createdAt: now,
    },
    by,
    { owner, until: leaseUntil(now) },
    maxRepositories,
  )
  if (repository === null) throw alreadyConnected()
  // After a reconnect under another spelling of the URL, commits that the server no longer has exist only in the mirror.
  const previous = known.find(({ id }) => id === repository.id)
  if (previous !== undefined) await moveMirror(mirrorOf(context, previous).path, mirrorOf(context, repository).path)
  const warnings = connectionWarnings(repository, known)
  return { lease: { repository, owner }, secret, warnings }
}

const maxConnectsAtOnce = 2

/** Limits the repositories that one organisation connects at the same time: each runs git, possibly against a slow server. */
export function createConnectLimit() {
  const running = new Map<number, number>()
  return {
    async run<T>(organisationId: number, connect: () => Promise<T>): Promise<T> {
      const count = running.get(organisationId) ?? 0
      if (count >= maxConnectsAtOnce) throw tooManyConnects(maxConnectsAtOnce)
      running.set(organisationId, count + 1)
      try {
        return await connect()
      } finally {
        const left = (running.get(organisationId) ?? 1) - 1
        if (left === 0) running.delete(organisationId)
        else running.set(organisationId, left)
      }
    },
  }
}

/**
 * A call that is repeated while the first one is running gets the result of the first. A client that gave up on a slow git server,
 * such as after the timeout of its proxy, so still receives the webhook secret, which is shown once.
 */
export function createSharedCalls<T>() {
  const running = new Map<string, Promise<T>>()
  return {
    share(key: string, call: () => Promise<T>): Promise<T> {
      const shared = running.get(key) ?? call().finally(() => running.delete(key))
      running.set(key, shared)
      return shared
    },
  }
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
  const sealed = vault.encrypt(secret, { hookId: repository.hookId, kind: 'webhook_secret' })
  await store.repositories.rotateSecret(repository, { sealed, oldUntil: oldSecretUntil }, now, by)
  return { secret, oldSecretUntil }
}
