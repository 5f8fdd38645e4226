import { checkConnected, type Repository } from '../domain/repositories/repository.ts'
import type { ConnectedRepository, RepositoryService } from '../domain/repositories/repository-service.ts'
import { backfill } from './backfill.ts'
import { readEntryBlame } from './blame.ts'
import { connectRepository, createConnectLimit, createSharedCalls, rotateSecret } from './connect.ts'
import { readContents } from './contents.ts'
import { readEarliestText } from './earliest-text.ts'
import { createInbox } from './inbox.ts'
import { receiveDelivery } from './receive-delivery.ts'
import { createRejectedDeliveries } from './rejected-deliveries.ts'
import { searchTexts } from './search-texts.ts'
import type { SyncContext } from './sync-context.ts'
import { updateRepository } from './update-repository.ts'
import { syncUntilDone, type Worker } from './worker.ts'

export function createRepositoryService(context: SyncContext, worker: Worker): RepositoryService {
  const { store, clock } = context
  const inbox = createInbox(context)
  const rejected = createRejectedDeliveries(context)
  const connects = createConnectLimit()
  const connecting = createSharedCalls<ConnectedRepository>()
  const find = async (id: number) => (await store.repositories.find(id)) as Repository

  return {
    connect(connection, by, options) {
      const connect = async () => {
        const connected = await connects.run(connection.organisationId, () =>
          connectRepository(context, connection, by),
        )
        return backfill(context, worker, connected, options)
      }
      return connecting.share(JSON.stringify([connection, by?.keyId]), connect)
    },
    async update(repository, update, by) {
      const updated = await connects.run(repository.organisationId, () =>
        updateRepository(context, repository, update, by),
      )
      worker.wake(repository)
      return updated
    },
    async receive(repository, request) {
      await receiveDelivery(context, inbox, rejected, repository, request)
      worker.wake(repository)
    },
    async sync(repository, { wait = false } = {}) {
      checkConnected(repository)
      await store.repositories.wake(repository, clock())
      if (wait) await syncUntilDone(context, repository.id)
      else worker.wake(repository)
      return find(repository.id)
    },
    async redeliver(delivery, { wait = false } = {}) {
      const { id, repositoryId } = delivery
      checkConnected(await find(repositoryId))
      const pending = await store.deliveries.redeliver(delivery, clock())
      if (!wait) {
        worker.wake({ id: repositoryId, organisationId: delivery.organisationId })
        return pending
      }
      await syncUntilDone(context, repositoryId)
      return (await store.deliveries.find(id)) ?? pending
    },
    rotateSecret: (repository, overlapMs, by) => rotateSecret(context, repository, overlapMs, by),
    contents: (entry) => readContents(context, entry),
    blame: (entry) => readEntryBlame(context, entry),
    earliestText: (prompt, at) => readEarliestText(context, prompt, at),
    searchTexts: (...request) => searchTexts(context, ...request),
    flush: rejected.flush,
  }
}
