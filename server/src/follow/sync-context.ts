import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Repository } from '../domain/repositories/repository.ts'
import { isLocalUrl } from '../domain/repositories/repository-url.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import type { Mirror } from '../git/mirror.ts'
import type { Remote } from '../git/remote.ts'

/** The dependencies and settings of syncing. */
export interface SyncContext {
  store: Store
  vault: Vault
  clock: Clock
  log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** The parent folder of the mirrors. */
  dataDir: string
  /** Whether folders on this machine can be connected. */
  allowLocal: boolean
  allowRedirects: boolean
  /** The maximum size of one mirror, in bytes. */
  sizeLimit: number
}

export function remoteOf(
  { vault, allowRedirects }: SyncContext,
  { url, forge, sealedToken }: Pick<Repository, 'url' | 'forge' | 'sealedToken'>,
): Remote {
  const credentials =
    sealedToken === null ? null : { user: forgeOf(forge).tokenUser, token: vault.decrypt(sealedToken) }
  return { url, credentials, allowLocal: isLocalUrl(url), allowRedirects }
}

export function mirrorOf(context: SyncContext, repository: Repository): Mirror {
  // The name includes the URL: if the folder outlives its database, the same id can belong to another repository.
  const name = `${repository.id}-${hash('sha256', repository.url).slice(0, 12)}.git`
  return {
    path: join(context.dataDir, 'mirrors', name),
    remote: remoteOf(context, repository),
    sizeLimit: context.sizeLimit,
  }
}
