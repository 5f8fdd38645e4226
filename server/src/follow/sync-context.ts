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
import type { Remote } from '../git/remote-access.ts'
import type { Lookup } from '../net/address.ts'

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
  /** Whether repositories that admins connect may be fetched over plain http. Off by default. */
  allowHttp?: boolean
  /** Whether repositories that admins connect may be at private addresses. Off by default. */
  allowPrivateAddresses?: boolean
  /** Whether repositories that admins connect are fetched with the machine's ssh keys. Off by default. */
  allowMachineSshKeys?: boolean
  /** How to resolve host names; the system's resolver by default. */
  lookUp?: Lookup
  /** The maximum size of one mirror, in bytes. */
  sizeLimit: number
  limits: SyncLimits
  /** How many branches of pull requests one sync reads. */
  maxPullBranches?: number
}

interface SyncLimits {
  /** Syncs that run at the same time. One organisation gets at most half of them. */
  concurrentSyncs: number
  /** Connected repositories per organisation. */
  repositories: number
  /** Bytes of deliveries per organisation that wait to be processed. */
  inboxBytes: number
}

export type RemoteFacts = Pick<
  Repository,
  'hookId' | 'url' | 'forge' | 'sealedToken' | 'sealedSshKey' | 'sshHostKey' | 'connectedByOperator'
>

export function remoteOf(context: SyncContext, repository: RemoteFacts): Remote {
  const { vault, allowRedirects, allowHttp = false, allowPrivateAddresses = false, lookUp } = context
  const { allowMachineSshKeys = false } = context
  const { hookId, url, forge, sealedToken, sealedSshKey, sshHostKey, connectedByOperator } = repository
  const token = sealedToken === null ? null : vault.decrypt(sealedToken, { hookId, kind: 'token' })
  const privateKey = sealedSshKey === null ? null : vault.decrypt(sealedSshKey, { hookId, kind: 'ssh_key' })
  return {
    url,
    credentials: token === null ? null : { user: forgeOf(forge).tokenUser, token },
    deployKey: privateKey === null ? null : { privateKey, hostKey: sshHostKey },
    allowMachineKeys: allowMachineSshKeys || connectedByOperator,
    allowLocal: isLocalUrl(url),
    allowHttp: allowHttp || connectedByOperator,
    allowRedirects,
    allowPrivate: allowPrivateAddresses || connectedByOperator,
    hidesNetwork: allowPrivateAddresses && !connectedByOperator,
    lookUp,
  }
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
