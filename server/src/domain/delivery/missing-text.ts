import { DomainError } from '../errors.ts'
import type { Prompt } from '../prompt.ts'
import type { Store } from '../store.ts'
import { type Instant, isoTime } from '../time.ts'
import { liveVersions, maxDeliveredBytes } from './live-text.ts'

type Stores = Pick<Store, 'repositories' | 'history' | 'deployments'>

/** Why an application does not get the text of a prompt that exists and is delivered. `isRead`: whether git has shown its live version. */
export async function missingText(stores: Stores, prompt: Prompt, isRead: boolean, now: Instant): Promise<DomainError> {
  if (isRead) return missing(`its live version is larger than ${maxDeliveredBytes / 1024} KiB, or no text`)
  const { organisationId, repositoryId } = prompt
  const repository = repositoryId === null ? null : await stores.repositories.find(repositoryId)
  if (repository === null || repository.disconnectedAt !== null) {
    return missing('it has no file in a connected repository')
  }
  const version = (await liveVersions(stores, organisationId, [prompt], now)).get(prompt.id)
  if (version === null) return missing('its live version deleted the file')
  const { deliveryError, lastSyncAt } = repository
  if (deliveryError !== null) return new DomainError('not_found', `No live text yet. ${deliveryError}`)
  const since = lastSyncAt === null ? '' : ` since ${isoTime(lastSyncAt)}`
  return new DomainError('not_found', `No live text yet: the repository has not been read${since}. Retry later.`)
}

function missing(reason: string): DomainError {
  return new DomainError('not_found', `This prompt has no live text: ${reason}.`)
}
