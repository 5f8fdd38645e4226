import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Store } from '../domain/store.ts'
import type { SyncContext } from '../follow/sync-context.ts'
import { limitGitMemory } from '../git/run.ts'
import { openVault } from './secret-key.ts'

const megabyte = 1024 * 1024

/** The sync context with the configured settings. */
export async function openSyncContext(config: Config, store: Store, log: Logger): Promise<SyncContext> {
  limitGitMemory(config.gitMemoryLimitMb * megabyte)
  return {
    store,
    vault: await openVault(config, store.secrets),
    clock: Date.now,
    log,
    dataDir: config.dataDir,
    allowLocal: config.allowLocalRepositories,
    allowRedirects: config.allowRepositoryRedirects,
    allowHttp: config.allowHttpRepositories,
    allowPrivateAddresses: config.allowPrivateRepositoryAddresses,
    allowMachineSshKeys: config.allowMachineSshKeys,
    sizeLimit: config.repositorySizeLimitMb * megabyte,
    limits: {
      concurrentSyncs: config.syncConcurrency,
      repositories: config.repositoriesPerOrganisation,
      inboxBytes: config.inboxLimitMb * megabyte,
    },
  }
}
