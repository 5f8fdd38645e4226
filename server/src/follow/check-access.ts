import { type Actor, operator } from '../domain/access/audit.ts'
import { invalidField } from '../domain/errors.ts'
import type { DeployKeyFields, Repository } from '../domain/repositories/repository.ts'
import type { Connection, NewDeployKey } from '../domain/repositories/repository-service.ts'
import { isSshUrl } from '../domain/repositories/repository-url.ts'
import { generateSshKey, type SshKey, validHostKey, validSshKey } from '../domain/repositories/ssh-key.ts'
import { readHostKey, readRemoteHead } from '../git/remote.ts'
import { missingDeployKey, type Remote } from '../git/remote-access.ts'
import { GitError } from '../git/run.ts'
import { remoteOf, type SyncContext } from './sync-context.ts'

type Credentials = Pick<Repository, 'sealedToken'> & DeployKeyFields

/** Checks that git can read the repository, and returns the credentials to store. */
export async function checkAccess(
  context: SyncContext,
  connection: Connection & { hookId: string },
  by: Actor,
): Promise<Credentials> {
  const { vault } = context
  const { hookId, forge, url, token, deployKey = null } = connection
  const key = deployKey === null ? null : sshKeyFor(url, deployKey)
  const credentials: Credentials = {
    sealedToken: token === null ? null : vault.encrypt(token, { hookId, kind: 'token' }),
    sealedSshKey: key === null ? null : vault.encrypt(key.privateKey, { hookId, kind: 'ssh_key' }),
    sshPublicKey: key?.publicKey ?? null,
    sshHostKey: deployKey?.hostKey == null ? null : validHostKey(deployKey.hostKey),
  }
  const remote = remoteOf(context, { hookId, url, forge, connectedByOperator: by === operator, ...credentials })
  if (isSshUrl(url) && key === null && !remote.allowMachineKeys)
    throw invalidField('sshKey', `is missing: ${missingDeployKey}`)
  try {
    if (key !== null) credentials.sshHostKey ??= await readHostKey(remote)
    await readRemoteHead(withHostKey(remote, credentials.sshHostKey))
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    // The forge accepts a generated key only after the public half has been added there. Syncs are retried until then.
    const isGenerated = deployKey?.privateKey === null
    if (isGenerated && error.failure === 'access' && credentials.sshHostKey !== null) return credentials
    const isOperator = by === operator
    if (!isOperator) {
      context.log.warn({ err: error, organisation: connection.organisationId, url }, 'could not connect a repository')
    }
    const details = isOperator && error.gitOutput !== '' ? ` (git: ${error.gitOutput})` : ''
    throw invalidField('url', `cannot be read: ${error.reason}${details}`)
  }
  return credentials
}

function sshKeyFor(url: string, { privateKey }: NewDeployKey): SshKey {
  if (!isSshUrl(url)) throw invalidField('sshKey', 'needs a URL of the form ssh://… or git@host:path')
  return privateKey === null ? generateSshKey() : validSshKey(privateKey)
}

function withHostKey(remote: Remote, hostKey: string | null): Remote {
  const { deployKey } = remote
  return deployKey === null ? remote : { ...remote, deployKey: { ...deployKey, hostKey } }
}
