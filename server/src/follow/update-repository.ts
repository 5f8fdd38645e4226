import { setTimeout as pause } from 'node:timers/promises'
import { type Actor, operator } from '../domain/access/audit.ts'
import { type InvalidFieldError, invalidField } from '../domain/errors.ts'
import { connectionWarnings } from '../domain/repositories/connection-warnings.ts'
import { rightForge } from '../domain/repositories/forge-host.ts'
import { generateLeaseOwner, type Lease } from '../domain/repositories/lease.ts'
import {
  checkConnected,
  type ForgeName,
  type Repository,
  type RepositoryChange,
} from '../domain/repositories/repository.ts'
import { serverOf } from '../domain/repositories/repository-identity.ts'
import {
  type RepositoryUpdate,
  repositoryBusy,
  type UpdatedRepository,
} from '../domain/repositories/repository-service.ts'
import { isHttpUrl, isSshUrl, validRepositoryUrl } from '../domain/repositories/repository-url.ts'
import { isSetting, updatedSettings } from '../domain/repositories/settings.ts'
import { validHostKey } from '../domain/repositories/ssh-key.ts'
import { moveMirror } from '../git/mirror.ts'
import { GitError } from '../git/run.ts'
import { sharesHistory } from '../git/shared-history.ts'
import {
  type Credentials,
  deployKeyFields,
  readableRemote,
  shownReason,
  sshKeyFor,
  UnreadableError,
} from './check-access.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'
import { leaseUntil } from './worker.ts'

/** Changes the URL, credentials or settings of a connected repository. Its webhook, secret, prompts and history stay. */
export async function updateRepository(
  context: SyncContext,
  repository: Repository,
  update: RepositoryUpdate,
  by: Actor,
): Promise<UpdatedRepository> {
  const { store, clock } = context
  checkConnected(repository)
  const change = await checkedChange(context, repository, update, by)
  const others = await store.repositories.list(repository.organisationId)
  const warnings = connectionWarnings({ ...repository, ...change }, others)
  const lease = await waitForLease(context, repository)
  let outcome = { dueAt: lease.repository.dueAt, error: lease.repository.lastError }
  try {
    const updated = await store.repositories.update(repository, change, clock(), by)
    // Commits that the server no longer has exist only in the mirror.
    await moveMirror(mirrorOf(context, repository).path, mirrorOf(context, updated).path)
    outcome = { dueAt: clock(), error: null }
  } finally {
    await store.repositories.release(lease, { ...outcome, syncedAt: null })
  }
  return { repository: (await store.repositories.find(repository.id)) as Repository, warnings }
}

/** The columns to change, once git has read the repository with them. */
async function checkedChange(
  context: SyncContext,
  repository: Repository,
  update: RepositoryUpdate,
  by: Actor,
): Promise<RepositoryChange> {
  const { allowLocal, allowHttp = false } = context
  const url = update.url === undefined ? repository.url : validRepositoryUrl(update.url, { allowLocal, allowHttp })
  const isMoved = url !== repository.url
  const forge = isMoved ? rightForge(repository.forge, url) : null
  if (forge !== null) throw otherForge(repository, forge)
  // An admin must not reach through an operator's repository what only the operator may read.
  const connectedByOperator = isMoved ? by === operator : repository.connectedByOperator
  const credentials = credentialsFor(context, repository, url, update)
  const changed = { ...repository, url, connectedByOperator, ...credentials }
  const settings = updatedSettings(repository, update)
  // No need to contact the server for a setting of our own.
  const changes = Object.entries(update).filter(([, value]) => value !== undefined)
  if (changes.length > 0 && changes.every(([key]) => isSetting(key)))
    return { url, connectedByOperator, ...credentials, ...settings }
  try {
    const remote = await readableRemote(context, changed)
    if (isMoved && repository.tip !== null) {
      const candidate = { ...mirrorOf(context, changed), remote }
      const isSame = await sharesHistory(candidate, mirrorOf(context, repository).path, repository.tip)
      if (!isSame) throw otherRepository(repository)
    }
    return {
      url,
      connectedByOperator,
      ...credentials,
      sshHostKey: remote.deployKey?.hostKey ?? null,
      ...settings,
    }
  } catch (error) {
    const cause = error instanceof UnreadableError ? error.cause : error
    if (!(cause instanceof GitError)) throw error
    throw unreadable(update, isMoved, shownReason(context, cause, { ...repository, url }, by))
  }
}

/** A credential is bound to its server: it is not sent to another one, which could record it. */
function credentialsFor(
  context: SyncContext,
  repository: Repository,
  url: string,
  { token, sshKey, sshHostKey }: RepositoryUpdate,
): Credentials {
  const { hookId, sealedToken } = repository
  const isOtherServer = serverOf(url) !== serverOf(repository.url)
  if (token != null && !isHttpUrl(url)) throw invalidField('token', 'needs a URL of the form https://…')
  if (token === undefined && sealedToken !== null && isOtherServer && isHttpUrl(url)) {
    throw invalidField(
      'token',
      `is required: the stored one is only sent to ${serverOf(repository.url)}, not to ${serverOf(url)}. Pass the token for ` +
        'that server, or remove it',
    )
  }
  const { sealedSshKey, sshPublicKey } =
    sshKey === undefined ? repository : deployKeyFields(context, hookId, sshKeyFor(url, { privateKey: sshKey }))
  const hasKey = isSshUrl(url) && sealedSshKey !== null
  if (sshHostKey !== undefined && !hasKey) throw invalidField('sshHostKey', 'needs a deploy key')
  const knownHostKey = isOtherServer ? null : repository.sshHostKey
  return {
    sealedToken:
      token == null
        ? token === null || !isHttpUrl(url)
          ? null
          : sealedToken
        : context.vault.encrypt(token, { hookId, kind: 'token' }),
    sealedSshKey: hasKey ? sealedSshKey : null,
    sshPublicKey: hasKey ? sshPublicKey : null,
    sshHostKey: !hasKey ? null : sshHostKey === undefined ? knownHostKey : validHostKey(sshHostKey),
  }
}

function otherRepository({ tip }: Repository): InvalidFieldError {
  const known = (tip as string).slice(0, 12)
  return invalidField(
    'url',
    `must lead to the same repository: the default branch there has no commit in common with ${known}, the newest known ` +
      'one. Connect another repository as a new one',
  )
}

function otherForge({ forge }: Repository, other: ForgeName): InvalidFieldError {
  return invalidField(
    'url',
    `is on ${other}, but the repository is connected as ${forge}. Connect it as a new repository`,
  )
}

function unreadable({ token }: RepositoryUpdate, isMoved: boolean, reason: string): InvalidFieldError {
  if (isMoved) return invalidField('url', `cannot be read: ${reason}`)
  if (token === undefined) return invalidField('sshKey', `does not give read access: ${reason}`)
  return invalidField('token', token === null ? `cannot be removed: ${reason}` : `does not give read access: ${reason}`)
}

const leaseTimeoutMs = 5_000
const leaseRetryIntervalMs = 100

/** A sync that runs meanwhile uses the mirror, so it has to finish first. */
async function waitForLease({ store, clock }: SyncContext, { id }: Repository): Promise<Lease> {
  const deadline = performance.now() + leaseTimeoutMs
  for (;;) {
    const now = clock()
    const lease = await store.repositories.lease(id, generateLeaseOwner(), now, leaseUntil(now))
    if (lease !== null) return lease
    if (performance.now() > deadline) throw repositoryBusy()
    await pause(leaseRetryIntervalMs)
  }
}
