import type { Config } from '../config.ts'
import type { RepositoryService } from '../domain/repositories/repository-service.ts'
import type { Store } from '../domain/store.ts'
import type { SyncContext } from '../follow/sync-context.ts'
import { collectGarbageEarly } from '../service/allocator.ts'
import type { OptionNames } from './arguments.ts'

interface ContextOptions {
  allowHttp?: boolean | undefined
}

/** Imported on demand, because most commands need no git. */
export async function openRepositoryService(
  config: Config,
  store: Store,
  options: ContextOptions = {},
): Promise<RepositoryService> {
  collectGarbageEarly()
  const [{ createRepositoryService }, { idleWorker }] = await Promise.all([
    import('../follow/repository-service.ts'),
    import('../follow/worker.ts'),
  ])
  return createRepositoryService(await openLocalContext(config, store, options), idleWorker)
}

/** The sync context of the operator, who can read the folders of this machine anyway. */
export async function openLocalContext(
  config: Config,
  store: Store,
  { allowHttp = config.allowHttpRepositories }: ContextOptions = {},
): Promise<SyncContext> {
  const [{ openSyncContext }, { createLogger }] = await Promise.all([
    import('../service/sync-context.ts'),
    import('../service/log.ts'),
  ])
  const context = await openSyncContext(config, store, createLogger(config.logLevel))
  return { ...context, allowLocal: true, allowHttp }
}

export function publicUrl({ publicUrl, host, port }: Config): string {
  return publicUrl ?? `http://${host}:${port}`
}

export const repositoryOptions: OptionNames = {
  token: '--token-env',
  sshKey: '--ssh-key-env',
  sshHostKey: '--ssh-host-key',
  productionEnvironments: '--production-environments',
}
