import type { Actor } from '../domain/access/audit.ts'
import { connectionWarnings } from '../domain/repositories/connection-warnings.ts'
import { checkForge } from '../domain/repositories/forge-host.ts'
import { generateLeaseOwner, type Lease } from '../domain/repositories/lease.ts'
import { generateHookId, validPathPattern, validSimilarity } from '../domain/repositories/repository.ts'
import { alreadyConnected, type Connection, tooManyRepositories } from '../domain/repositories/repository-service.ts'
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
  /** Probable mistakes. */
  warnings: string[]
}

/** Stores a new repository once git has been able to read it. */
export async function connectRepository(context: SyncContext, connection: Connection, by: Actor): Promise<Connected> {
  const { store, vault, clock, log, allowLocal, allowHttp = false } = context
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
  if (previous !== undefined) {
    await moveMirror(mirrorOf(context, previous).path, mirrorOf(context, repository).path).catch((error) =>
      // The secret is stored and not yet shown, so nothing may fail any more.
      log.warn({ err: error, repository: repository.id }, 'could not move the mirror of a repository'),
    )
  }
  const warnings = connectionWarnings(repository, known)
  return { lease: { repository, owner }, secret, warnings }
}
