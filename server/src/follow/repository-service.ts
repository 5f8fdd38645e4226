import { setTimeout as pause } from 'node:timers/promises'
import type { Actor } from '../domain/access/audit.ts'
import type { EntryDetails } from '../domain/history/entry.ts'
import { checkConnected, type Repository, webUrlOf } from '../domain/repositories/repository.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import { forgeOf } from '../forges/index.ts'
import { type Connection, connectRepository, rotateSecret } from './connect.ts'
import { type Contents, readContents } from './contents.ts'
import type { SyncContext } from './sync-context.ts'
import { startWorker, syncWithLease, type Worker } from './worker.ts'

/** What the service does with repositories. */
export interface RepositoryService {
  vault: Vault
  /** Where forges and people reach the service. */
  publicUrl(): string
  /** Begins to follow a repository. Waits a few seconds for its history, which may take longer to come in. */
  connect(connection: Connection, by: Actor): Promise<{ repository: Repository; secret: string; setUp: string[] }>
  sync(repository: Repository): Promise<void>
  rotateSecret(repository: Repository, overlap: number, by: Actor): Promise<string>
  wake(repositoryId: number): void
  contents(entry: EntryDetails): Promise<Contents>
  stop(): Promise<void>
}

const wait = 5_000

export function startRepositoryService(
  follow: SyncContext,
  publicUrl: () => string,
  worker: Worker = startWorker(follow),
): RepositoryService {
  const { store, clock, vault, log } = follow
  return {
    vault,
    publicUrl,
    async connect(connection, by) {
      const { lease, secret } = await connectRepository(follow, connection, by)
      const { id } = lease.repository
      const first = syncWithLease(follow, lease).catch((error) =>
        log.warn({ err: error, repository: id }, 'could not sync a repository'),
      )
      await Promise.race([first, pause(wait, undefined, { ref: false })])
      const repository = (await store.repositories.find(id)) as Repository
      const url = `${publicUrl()}/webhooks/${repository.hookId}`
      return {
        repository,
        secret,
        setUp: forgeOf(repository.forge).setUp({ url, secret, webUrl: webUrlOf(repository) }),
      }
    },
    async sync(repository) {
      checkConnected(repository)
      await store.repositories.wake(repository, clock())
      worker.wake(repository.id)
    },
    rotateSecret: (repository, overlap, by) => rotateSecret(follow, repository, overlap, by),
    wake: worker.wake,
    contents: (entry) => readContents(follow, entry),
    stop: worker.stop,
  }
}
