import { setTimeout as pause } from 'node:timers/promises'
import { checkConnected, type Repository } from '../domain/repositories/repository.ts'
import type {
  BackfillOptions,
  ConnectedRepository,
  RepositoryService,
} from '../domain/repositories/repository-service.ts'
import { countCommitsTouching } from '../git/mirror.ts'
import { type Connected, connectRepository, rotateSecret } from './connect.ts'
import { readContents } from './contents.ts'
import { receiveDelivery } from './receive-delivery.ts'
import type { OnCommits } from './record-commits.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'
import { syncUntilDone, syncWithLease, type Worker } from './worker.ts'

export function createRepositoryService(context: SyncContext, worker: Worker): RepositoryService {
  const { store, clock } = context
  const find = async (id: number) => (await store.repositories.find(id)) as Repository

  return {
    async connect(connection, by, options) {
      return backfill(context, await connectRepository(context, connection, by), options)
    },
    async receive(repository, request) {
      await receiveDelivery(context, repository, request)
      worker.wake(repository.id)
    },
    async sync(repository, { wait = false } = {}) {
      checkConnected(repository)
      await store.repositories.wake(repository, clock())
      if (wait) await syncUntilDone(context, repository.id)
      else worker.wake(repository.id)
      return find(repository.id)
    },
    async redeliver(delivery, { wait = false } = {}) {
      const { id, repositoryId } = delivery
      checkConnected(await find(repositoryId))
      const pending = await store.deliveries.redeliver(delivery, clock())
      if (!wait) {
        worker.wake(repositoryId)
        return pending
      }
      await syncUntilDone(context, repositoryId)
      return (await store.deliveries.find(id)) ?? pending
    },
    rotateSecret: (repository, overlapMs, by) => rotateSecret(context, repository, overlapMs, by),
    contents: (entry) => readContents(context, entry),
  }
}

async function backfill(
  context: SyncContext,
  { lease, secret }: Connected,
  { waitMs, onProgress }: BackfillOptions,
): Promise<ConnectedRepository> {
  const { store, log } = context
  const { id } = lease.repository
  const onCommits = onProgress && reportProgress(context, lease.repository, onProgress)
  const finished = syncWithLease(context, lease, onCommits).then(
    () => null,
    (error: Error) => {
      // Without a time limit, the caller sees the error in the result.
      if (waitMs !== undefined) log.warn({ err: error, repository: id }, 'could not sync a repository')
      return error
    },
  )
  const backfillError =
    waitMs === undefined ? await finished : await Promise.race([finished, pause(waitMs, null, { ref: false })])
  const repository = (await store.repositories.find(id)) as Repository
  return {
    repository,
    secret,
    prompts: await store.facts.prompts(repository),
    entryCount: await store.facts.countEntries(repository),
    backfillError,
  }
}

function reportProgress(
  context: SyncContext,
  repository: Repository,
  onProgress: NonNullable<BackfillOptions['onProgress']>,
): OnCommits {
  let total: number | null = null
  return async (recorded) => {
    total ??= await countCommitsTouching(mirrorOf(context, repository).path, repository.path)
    onProgress(recorded, total)
  }
}
