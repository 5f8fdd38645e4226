import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import pino from 'pino'
import { createVault } from '../server/src/domain/repositories/vault.ts'
import { createRepositoryService } from '../server/src/follow/repository-service.ts'
import { idleWorker } from '../server/src/follow/worker.ts'
import { buildApp } from '../server/src/http/app.ts'
import { createLastUsedTracker } from '../server/src/http/keys/last-used.ts'
import { openStore } from '../server/src/store/open.ts'

// Writes docs/openapi.json: what a service with an empty database, of which nothing stays, says about itself.
const clock = Date.now
const log = pino({ level: 'silent' })
const store = await openStore({ url: 'sqlite::memory:', poolSize: 1, clock, onLostConnection: () => {} })
const repositories = createRepositoryService(
  {
    store,
    vault: createVault(randomBytes(32)),
    clock,
    log,
    dataDir: tmpdir(),
    allowLocal: false,
    allowRedirects: false,
    sizeLimit: 0,
  },
  idleWorker,
)
const consoleFolder = new URL('../console/dist/', import.meta.url)
const app = buildApp({
  store,
  lastUsed: createLastUsedTracker(store.keys),
  repositories,
  publicUrl: () => '',
  consoleFolder,
  clock,
  log,
})
const { body } = await app.inject('/openapi.json')
await app.close()
await store.close()
await writeFile(new URL('../docs/openapi.json', import.meta.url), body)
