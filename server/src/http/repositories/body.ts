import type { Delivery } from '../../domain/repositories/delivery.ts'
import { type Repository, stateOfRepository } from '../../domain/repositories/repository.ts'
import { type Instant, isoTime } from '../../domain/time.ts'
import type { DeliveryBody, RepositoryBody } from './schema.ts'

export function toRepositoryBody(
  repository: Repository,
  publicUrl: string,
): Omit<RepositoryBody, 'prompt_count' | 'entry_count'> {
  return {
    id: repository.id,
    forge: repository.forge,
    url: repository.url,
    path: repository.path,
    default_branch: repository.defaultBranch,
    state: stateOfRepository(repository),
    incomplete: repository.incomplete,
    webhook_url: webhookUrl(repository, publicUrl),
    last_delivery_at: timeOrNull(repository.lastDeliveryAt),
    last_sync_at: timeOrNull(repository.lastSyncAt),
    last_error: repository.lastError,
    created_at: isoTime(repository.createdAt),
  }
}

export function webhookUrl({ hookId }: Repository, publicUrl: string): string {
  return `${publicUrl}/webhooks/${hookId}`
}

export function toDeliveryBody(delivery: Delivery): DeliveryBody {
  return {
    id: delivery.id,
    event: delivery.event,
    state: delivery.state,
    attempts: delivery.attempts,
    error: delivery.error,
    received_at: isoTime(delivery.receivedAt),
    next_attempt_at: delivery.state === 'pending' ? isoTime(delivery.nextAttemptAt) : null,
    finished_at: timeOrNull(delivery.finishedAt),
  }
}

function timeOrNull(at: Instant | null): string | null {
  return at === null ? null : isoTime(at)
}
