import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { isLocal, type Repository } from '../domain/repositories/repository.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import type { Mirror } from '../git/mirror.ts'
import type { Remote } from '../git/remote.ts'

/** What following repositories works with. */
export interface SyncContext {
  store: Store
  vault: Vault
  clock: Clock
  log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Where mirrors are kept. */
  dataDir: string
  allowLocal: boolean
  allowRedirects: boolean
  /** The most bytes that one mirror may take. */
  sizeLimit: number
}

/** Where the repository is fetched from. */
export function remoteOf(
  { vault, allowRedirects }: SyncContext,
  { url, forge, sealedToken }: Pick<Repository, 'url' | 'forge' | 'sealedToken'>,
): Remote {
  const credentials = sealedToken === null ? null : { user: forgeOf(forge).tokenUser, token: vault.open(sealedToken) }
  return { url, credentials, allowLocal: isLocal(url), allowRedirects }
}

export function mirrorOf(follow: SyncContext, repository: Repository): Mirror {
  // The address is part of the name: in a folder that outlived its database, the same number may mean another repository.
  const name = `${repository.id}-${hash('sha256', repository.url).slice(0, 12)}.git`
  return {
    path: join(follow.dataDir, 'mirrors', name),
    remote: remoteOf(follow, repository),
    sizeLimit: follow.sizeLimit,
  }
}
