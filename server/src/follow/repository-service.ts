import { isUtf8 } from 'node:buffer'
import { invalid } from '../domain/errors.ts'
import { checkConnected, type Repository } from '../domain/repositories/repository.ts'
import {
  type ConnectedRepository,
  type RepositoryService,
  tooManyConnects,
} from '../domain/repositories/repository-service.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import { backfill } from './backfill.ts'
import { readEntryBlame } from './blame.ts'
import { fetchLiveTexts, readBlobTexts, searchTexts } from './blob-texts.ts'
import { readCandidate } from './candidate.ts'
import { connectRepository } from './connect.ts'
import { readContents, readEarliestText } from './contents.ts'
import { createInbox } from './inbox.ts'
import { createRejectedDeliveries } from './rejected-deliveries.ts'
import { createSharedCalls } from './shared-calls.ts'
import type { SyncContext } from './sync-context.ts'
import { updateRepository } from './update-repository.ts'
import { syncUntilDone, type Worker } from './worker.ts'

export function createRepositoryService(context: SyncContext, worker: Worker): RepositoryService {
  const { store, clock } = context
  const inbox = createInbox(context)
  const rejected = createRejectedDeliveries(context)
  const connects = createConnectLimit()
  // A client that gave up on a slow git server, such as after the timeout of its proxy, so still receives the webhook secret, which is
  // shown once.
  const shareConnecting = createSharedCalls<string, ConnectedRepository>()
  const find = async (id: number) => (await store.repositories.find(id)) as Repository

  return {
    connect(connection, by, options) {
      const connect = async () => {
        const connected = await connects.run(connection.organisationId, () =>
          connectRepository(context, connection, by),
        )
        return backfill(context, worker, connected, options)
      }
      return shareConnecting(JSON.stringify([connection, by?.keyId]), connect)
    },
    async update(repository, update, by) {
      const updated = await connects.run(repository.organisationId, () =>
        updateRepository(context, repository, update, by),
      )
      worker.wake(repository)
      return updated
    },
    /** Nothing is parsed before the signature is verified. */
    async receive(repository, request) {
      const forge = forgeOf(repository.forge)
      const now = clock()
      if (!forge.verifySignature(request, validSecrets(repository, context.vault, now), now)) {
        throw rejected.reject(repository, request.headers)
      }
      if (!isUtf8(request.body)) throw invalid('The body is not valid UTF-8')
      await inbox.admit(repository.organisationId, request.body.length)
      // JSON has no NUL characters, and PostgreSQL cannot store them.
      const body = request.body.toString().replaceAll('\0', '\ufffd')
      await store.deliveries.receive(repository, { ...forge.readHeaders(request.headers), body, receivedAt: now })
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
    async rotateSecret(repository, overlapMs, by) {
      const secret = forgeOf(repository.forge).generateSecret()
      const now = clock()
      const oldSecretUntil = now + overlapMs
      const sealed = context.vault.encrypt(secret, { hookId: repository.hookId, kind: 'webhook_secret' })
      await store.repositories.rotateSecret(repository, { sealed, oldUntil: oldSecretUntil }, now, by)
      return { secret, oldSecretUntil }
    },
    contents: (entry) => readContents(context, entry),
    blame: (entry) => readEntryBlame(context, entry),
    earliestText: (prompt, at) => readEarliestText(context, prompt, at),
    searchTexts: (...request) => searchTexts(context, ...request),
    candidate: (...request) => readCandidate(context, ...request),
    texts: (...request) => readBlobTexts(context, ...request),
    deliveredBytes: Math.floor(context.sizeLimit / deliveredPart),
    fetchLiveTexts: (...request) => fetchLiveTexts(context, ...request),
    pushUndo: async (request) => (await import('./undo.ts')).pushUndo(context, request),
    undoCommands: async (request) => (await import('./undo.ts')).undoCommands(context, request),
    flush: rejected.flush,
  }
}

// git compresses equal lines, the database does not: a repository of a megabyte may have gigabytes of texts.
const deliveredPart = 8
const maxConnectsAtOnce = 2

/** Limits the repositories that one organisation connects at the same time: each runs git, possibly against a slow server. */
function createConnectLimit() {
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

/** The current secret and, during a rotation, the old one. */
function validSecrets(
  { hookId, sealedSecret, sealedOldSecret, oldSecretUntil }: Repository,
  vault: Vault,
  now: Instant,
): string[] {
  const old = sealedOldSecret !== null && oldSecretUntil !== null && now < oldSecretUntil ? [sealedOldSecret] : []
  return [sealedSecret, ...old].map((sealed) => vault.decrypt(sealed, { hookId, kind: 'webhook_secret' }))
}
