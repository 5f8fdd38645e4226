import type {
  ConnectedBody,
  DeliveryBody,
  NewRepositoryBody,
  RepositoryBody,
  RotatedSecretBody,
  SettingsBody,
} from '../../../../contract/repositories.ts'
import { invalid, invalidField } from '../../domain/errors.ts'
import type { Delivery } from '../../domain/repositories/delivery.ts'
import { reportProblem } from '../../domain/repositories/report-token.ts'
import { isStale, type Repository, repositoryState } from '../../domain/repositories/repository.ts'
import type { ConnectedRepository, NewDeployKey, RotatedSecret } from '../../domain/repositories/repository-service.ts'
import { isLocalUrl, webUrlOf } from '../../domain/repositories/repository-url.ts'
import { namedSettings } from '../../domain/repositories/settings.ts'
import { type Instant, isoTime, timeOrNull } from '../../domain/time.ts'
import { forgeOf } from '../../forges/index.ts'

/** The deploy key that a new repository is to be fetched with; null for none. */
export function requestedDeployKey(body: NewRepositoryBody): NewDeployKey | null {
  const { ssh_key: privateKey = null, generate_ssh_key: isGenerated = false, ssh_host_key: hostKey = null } = body
  if (isGenerated && privateKey !== null) throw invalid('Pass either ssh_key or generate_ssh_key, not both')
  if (isGenerated || privateKey !== null) return { privateKey, hostKey }
  if (hostKey !== null) throw invalidField('sshHostKey', 'needs ssh_key or generate_ssh_key')
  return null
}

export function toRepositoryBody(
  repository: Repository,
  publicUrl: string,
  now: Instant,
): Omit<RepositoryBody, 'prompt_count' | 'entry_count'> {
  return {
    id: repository.id,
    forge: repository.forge,
    url: repository.url,
    path: repository.path,
    default_branch: repository.defaultBranch,
    state: repositoryState(repository),
    incomplete: repository.incomplete,
    unread_pulls_below: repository.unreadPullsBelow,
    webhook_url: webhookUrl(repository, publicUrl),
    last_delivery_at: timeOrNull(repository.lastDeliveryAt),
    rejected_deliveries: repository.rejectedDeliveries,
    last_rejected_at: timeOrNull(repository.lastRejectedAt),
    last_rejection: repository.lastRejection,
    last_sync_at: timeOrNull(repository.lastSyncAt),
    sync_age_seconds: repository.lastSyncAt === null ? null : secondsBetween(repository.lastSyncAt, now),
    stale: isStale(repository, now),
    last_error: repository.lastError,
    ssh_public_key: repository.sshPublicKey,
    ssh_host_key: repository.sshHostKey,
    ...(namedSettings(repository) as SettingsBody),
    report_error: reportProblem(repository),
    delivery_error: repository.deliveryError,
    created_at: isoTime(repository.createdAt),
  }
}

/** The only response with the webhook secret, and the steps to set up the webhook with it. */
export function toConnectedBody(
  { repository, secret, prompts, entryCount, warnings }: ConnectedRepository,
  publicUrl: string,
  now: Instant,
): ConnectedBody {
  const webhook = { url: webhookUrl(repository, publicUrl), secret, webUrl: webUrlOf(repository) }
  return {
    ...toRepositoryBody(repository, publicUrl, now),
    webhook_secret: secret,
    // No forge sends deliveries about a folder.
    set_up: isLocalUrl(repository.url) ? [] : forgeOf(repository.forge).setUpSteps(webhook),
    prompts: prompts.map(({ publicId, path }) => ({ id: publicId, path })),
    entries: entryCount,
    warnings,
  }
}

export function toRotatedSecretBody(
  repository: Repository,
  { secret, oldSecretUntil }: RotatedSecret,
  publicUrl: string,
): RotatedSecretBody {
  return {
    webhook_url: webhookUrl(repository, publicUrl),
    webhook_secret: secret,
    old_secret_until: isoTime(oldSecretUntil),
  }
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

function webhookUrl({ hookId }: Repository, publicUrl: string): string {
  return `${publicUrl}/webhooks/${hookId}`
}

/** The clock may have gone back since. */
function secondsBetween(earlier: Instant, now: Instant): number {
  return Math.max(0, Math.round((now - earlier) / 1_000))
}
