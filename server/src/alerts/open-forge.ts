import { missingToken, tokenScopes } from '../domain/repositories/report-token.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import { isPlainHttpUrl } from '../domain/repositories/repository-url.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { HasWriteAccess } from '../domain/trials/label.ts'
import type { ForgeApi } from '../forges/forge-api.ts'
import { apiOf } from '../forges/index.ts'
import { sendRequest } from '../net/request.ts'
import { createForgeClient, type ForgeClient } from './forge-client.ts'

/** How forges are reached. */
export interface ForgeContext {
  vault: Vault
  /** As for fetching repositories. The operator's own may be at private addresses and plain http anyway. */
  allowPrivateAddresses: boolean
  allowHttp: boolean
  /** How requests are sent. Default: over the network. */
  send?: typeof sendRequest
}

export interface OpenForge {
  api: ForgeApi
  client: ForgeClient
  /** Where the API has the repository. */
  root: string
}

/** What the token is for. */
interface Purpose {
  /** Starts a sentence, such as `Reports on pull requests need`. */
  needs: string
  scopes: string
}

/** The API of the repository's forge, or why it cannot be used. */
export function openForge(
  context: ForgeContext,
  repository: Repository,
  { needs, scopes }: Purpose,
): OpenForge | { error: string } {
  const { vault, allowPrivateAddresses, allowHttp, send = sendRequest } = context
  const { hookId, forge, url, sealedToken, connectedByOperator } = repository
  const api = apiOf(forge)
  if (sealedToken === null) return { error: missingToken(repository, needs, scopes) ?? '' }
  const root = api.repositoryUrl(url)
  if (root === null) {
    const where = forge === 'bitbucket' ? 'https://bitbucket.org/…: Bitbucket Data Center has another API' : 'https://…'
    return { error: `${needs} a repository URL of the form ${where}.` }
  }
  const network = {
    allowPrivate: allowPrivateAddresses || connectedByOperator,
    allowHttp: allowHttp || connectedByOperator,
  }
  if (isPlainHttpUrl(root) && !network.allowHttp) {
    return { error: 'Plain http:// is not allowed. Use https://, or set ALLOW=http-repositories.' }
  }
  const token = vault.decrypt(sealedToken, { hookId, kind: 'token' })
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return { error: 'The token has characters that a request header cannot have. Set a new one.' }
  }
  const showsReasons = !allowPrivateAddresses || connectedByOperator
  const client = createForgeClient({
    forge,
    api,
    token,
    scopes,
    showsReasons,
    send: (...args) => send(network, ...args),
  })
  return { api, root, client }
}

/** Asks the API of the forge, with the token of the repository, what a user may do there. */
export function createHasWriteAccess(context: ForgeContext): HasWriteAccess {
  return async (repository, user) => {
    const forge = openForge(context, repository, {
      needs: 'Labels on pull requests need',
      scopes: tokenScopes.reports[repository.forge],
    })
    if ('error' in forge) return { error: forge.error, isFinal: true }
    const { api, client, root } = forge
    const request = api.readAccess(root, user)
    if (request === null) return { error: 'This forge has no labels.', isFinal: true }
    const result = await client.send(request, 'check who set the label')
    if (result.kind === 'done') return api.canWrite(result.value, user)
    // The user is no member.
    if (result.status === 404) return false
    return { error: result.error, isFinal: result.isFinal }
  }
}
