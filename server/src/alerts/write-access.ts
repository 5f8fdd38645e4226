import { tokenScopes } from '../domain/repositories/report-token.ts'
import type { HasWriteAccess } from '../domain/trials/label.ts'
import { type ForgeContext, openForge } from './open-forge.ts'

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
