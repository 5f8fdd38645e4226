import { type Actor, operator } from '../domain/access/audit.ts'
import { invalidField } from '../domain/errors.ts'
import type { DeployKeyFields, Repository } from '../domain/repositories/repository.ts'
import type { Connection, NewDeployKey } from '../domain/repositories/repository-service.ts'
import { isSshUrl } from '../domain/repositories/repository-url.ts'
import { generateSshKey, type SshKey, validHostKey, validSshKey } from '../domain/repositories/ssh-key.ts'
import { readHostKey, readRemoteHead } from '../git/remote.ts'
import { missingDeployKey, type Remote } from '../git/remote-access.ts'
import { GitError } from '../git/run.ts'
import { type RemoteFacts, remoteOf, type SyncContext } from './sync-context.ts'

export type Credentials = Pick<Repository, 'sealedToken'> & DeployKeyFields

/** Checks that git can read a new repository, and returns the credentials to store. */
export async function checkAccess(
  context: SyncContext,
  connection: Connection & { hookId: string },
  by: Actor,
): Promise<Credentials> {
  const { hookId, forge, url, token, deployKey = null } = connection
  const key = deployKey === null ? null : sshKeyFor(url, deployKey)
  const credentials: Credentials = {
    sealedToken: token === null ? null : context.vault.encrypt(token, { hookId, kind: 'token' }),
    ...deployKeyFields(context, hookId, key),
    sshHostKey: deployKey?.hostKey == null ? null : validHostKey(deployKey.hostKey),
  }
  const facts = { hookId, url, forge, connectedByOperator: by === operator, ...credentials }
  try {
    const remote = await readableRemote(context, facts)
    return { ...credentials, sshHostKey: remote.deployKey?.hostKey ?? null }
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    // The forge accepts a generated key only after the public half has been added there. Syncs are retried until then.
    const isGenerated = deployKey?.privateKey === null
    const { cause, hostKey } = error
    if (isGenerated && hostKey !== null && ['access', 'permission'].includes(cause.failure)) {
      return { ...credentials, sshHostKey: hostKey }
    }
    throw invalidField('url', `cannot be read: ${shownReason(context, cause, connection, by)}`)
  }
}

/** git cannot read the repository. `hostKey` is that of the ssh server, if it got that far. */
export class UnreadableError extends Error {
  override readonly cause: GitError
  readonly hostKey: string | null

  constructor(cause: GitError, hostKey: string | null) {
    super(cause.message)
    this.cause = cause
    this.hostKey = hostKey
  }
}

/** The remote, once git has read it. With a deploy key but no host key, records the one that the server has now. */
export async function readableRemote(context: SyncContext, facts: RemoteFacts): Promise<Remote> {
  let remote = remoteOf(context, facts)
  if (isSshUrl(facts.url) && remote.deployKey === null && !remote.allowMachineKeys) {
    throw invalidField('sshKey', `is missing: ${missingDeployKey}`)
  }
  try {
    if (remote.deployKey !== null) {
      const hostKey = remote.deployKey.hostKey ?? (await readHostKey(remote))
      remote = { ...remote, deployKey: { ...remote.deployKey, hostKey } }
    }
    await readRemoteHead(remote)
    return remote
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw new UnreadableError(error, remote.deployKey?.hostKey ?? null)
  }
}

/** Why git cannot read the repository. Only the operator sees what git printed. */
export function shownReason(
  context: SyncContext,
  error: GitError,
  { organisationId, url }: Pick<Repository, 'organisationId' | 'url'>,
  by: Actor,
): string {
  if (by === operator) return error.gitOutput === '' ? error.reason : `${error.reason} (git: ${error.gitOutput})`
  context.log.warn({ err: error, organisation: organisationId, url }, 'could not read a repository')
  return error.reason
}

export function deployKeyFields({ vault }: SyncContext, hookId: string, key: SshKey | null) {
  return {
    sealedSshKey: key === null ? null : vault.encrypt(key.privateKey, { hookId, kind: 'ssh_key' }),
    sshPublicKey: key?.publicKey ?? null,
  }
}

export function sshKeyFor(url: string, { privateKey }: Pick<NewDeployKey, 'privateKey'>): SshKey {
  if (!isSshUrl(url)) throw invalidField('sshKey', 'needs a URL of the form ssh://… or git@host:path')
  return privateKey === null ? generateSshKey() : validSshKey(privateKey)
}
