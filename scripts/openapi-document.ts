import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import pino from 'pino'
import { createAlertService } from '../server/src/alerts/alert-service.ts'
import { readConfig } from '../server/src/config.ts'
import { createLearnedWander } from '../server/src/domain/impact/learned-wander.ts'
import { createVault } from '../server/src/domain/repositories/vault.ts'
import { createVoters } from '../server/src/domain/signals/voter.ts'
import { createRepositoryService } from '../server/src/follow/repository-service.ts'
import { idleWorker } from '../server/src/follow/worker.ts'
import { buildApp } from '../server/src/http/app.ts'
import { createLastUsedTracker } from '../server/src/http/keys/last-used.ts'
import { openStore } from '../server/src/store/open.ts'

/** The OpenAPI document of a service on an empty in-memory database. */
export async function openApiDocument(): Promise<string> {
  const clock = Date.now
  const log = pino({ level: 'silent' })
  const store = await openStore({ url: 'sqlite::memory:', poolSize: 1, clock, onLostConnection: () => {} })
  const vault = createVault(randomBytes(32))
  const repositories = createRepositoryService(
    {
      store,
      vault,
      clock,
      log,
      dataDir: tmpdir(),
      allowLocal: false,
      allowRedirects: false,
      sizeLimit: 0,
      limits: { concurrentSyncs: 4, repositories: 100, inboxBytes: 100_000_000 },
    },
    idleWorker,
  )
  const consoleFolder = new URL('../console/dist/', import.meta.url)
  const alerts = createAlertService({
    store,
    vault,
    clock,
    send: async () => ({ outcome: 'rejected', status: null, response: null, error: null }),
    targets: { allowPrivate: false, hasMail: false },
    wake: () => {},
  })
  const app = buildApp({
    store,
    lastUsed: createLastUsedTracker(store.keys),
    repositories,
    alerts,
    voters: createVoters(store.organisations, vault),
    vault,
    learned: createLearnedWander(store.wander, clock),
    publicUrl: () => '',
    consoleFolder,
    clock,
    log,
    limits: readConfig({}).requestLimits,
    planLimits: readConfig({}).planLimits,
    trustedProxies: [],
    organisationLimits: { repositories: readConfig({}).repositoriesPerOrganisation, signalRetentionDays: null },
  })
  const { body } = await app.inject('/openapi.json')
  await app.close()
  await store.close()
  return body
}
