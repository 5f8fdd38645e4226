import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import { issueKey } from '../server/src/domain/access/api-key.ts'
import { operator } from '../server/src/domain/access/audit.ts'
import { newOrganisation } from '../server/src/domain/access/organisation.ts'
import { monthlySignalLimit, type Plan } from '../server/src/domain/access/plan.ts'
import { newPrompt } from '../server/src/domain/prompt.ts'
import { createVault } from '../server/src/domain/repositories/vault.ts'
import type { Store } from '../server/src/domain/store.ts'
import type { Clock } from '../server/src/domain/time.ts'
import { createRepositoryService } from '../server/src/follow/repository-service.ts'
import { idleWorker } from '../server/src/follow/worker.ts'
import { buildApp } from '../server/src/http/app.ts'
import { createLastUsedTracker } from '../server/src/http/keys/last-used.ts'
import { openStore } from '../server/src/store/open.ts'
import type { Account } from '../testing/account.ts'
import type { Trial } from './fault.ts'

/** The real service in this process, on a real socket, by a clock of ours. */
export interface Service {
  store: Store
  port: number
  /** Notes when keys were last used, as the service does every ten seconds. */
  flushUses(): Promise<void>
  stop(): Promise<void>
  /** The same without an orderly end: connections are cut, and what is only in memory is lost. */
  cut(): Promise<void>
}

export async function startService({ url, folder }: Pick<Trial, 'url' | 'folder'>, clock: Clock): Promise<Service> {
  const store = await openStore({ url, poolSize: 10, clock, onLostConnection: () => {} })
  const log = pino({ level: 'error' })
  const uses = createLastUsedTracker(store.keys)
  const syncContext = {
    store,
    vault: createVault(randomBytes(32)),
    clock,
    log,
    dataDir: join(folder, 'data'),
    allowLocal: false,
    allowRedirects: false,
    sizeLimit: 0,
    limits: { concurrentSyncs: 4, repositories: 100, inboxBytes: 100_000_000 },
  }
  // No repository is connected.
  const repositories = createRepositoryService(syncContext, idleWorker)
  const consoleFolder = new URL('no-console/', import.meta.url)
  const app: FastifyInstance = buildApp({
    store,
    lastUsed: uses,
    repositories,
    publicUrl: () => 'http://127.0.0.1',
    consoleFolder,
    clock,
    log,
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })

  async function end(): Promise<void> {
    app.server.closeAllConnections()
    await app.close()
    await store.close()
  }

  return {
    store,
    port: Number(new URL(address).port),
    flushUses: uses.flush,
    async stop() {
      await uses.flush()
      await end()
    },
    async cut() {
      log.level = 'silent'
      await end()
    },
  }
}

export async function createAccountIn({ store }: Service, plan: Plan, now: number): Promise<Account> {
  const { id: organisationId } = await store.organisations.create(newOrganisation(plan, plan, now))
  const terms = { organisationId, name: 'voter', role: 'admin' as const, createdAt: now, expiresAt: null }
  const { secret } = await issueKey(store.keys, terms, operator)
  const { publicId } = await store.prompts.create(newPrompt(organisationId, 'voted on', now), operator)
  return { organisationId, limit: monthlySignalLimit[plan], key: secret, promptId: publicId }
}
