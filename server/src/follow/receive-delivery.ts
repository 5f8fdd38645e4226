import { isUtf8 } from 'node:buffer'
import { invalid } from '../domain/errors.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { WebhookRequest } from '../domain/repositories/webhook-request.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import type { Inbox } from './inbox.ts'
import type { RejectedDeliveries } from './rejected-deliveries.ts'
import type { SyncContext } from './sync-context.ts'

/** Verifies a webhook request and stores it as a pending delivery. Nothing is parsed before the signature is verified. */
export async function receiveDelivery(
  { store, vault, clock }: SyncContext,
  inbox: Inbox,
  rejected: RejectedDeliveries,
  repository: Repository,
  request: WebhookRequest,
): Promise<void> {
  const forge = forgeOf(repository.forge)
  const now = clock()
  if (!forge.verifySignature(request, validSecrets(repository, vault, now), now)) {
    throw rejected.reject(repository, request.headers)
  }
  if (!isUtf8(request.body)) throw invalid('The body is not valid UTF-8')
  await inbox.admit(repository.organisationId, request.body.length)
  // JSON has no NUL characters, and PostgreSQL cannot store them.
  const body = request.body.toString().replaceAll('\0', '\ufffd')
  await store.deliveries.receive(repository, { ...forge.readHeaders(request.headers), body, receivedAt: now })
}

/** The current secret and, during a rotation, the old one. */
function validSecrets(
  { hookId, sealedSecret, sealedOldSecret, oldSecretUntil }: Repository,
  vault: Vault,
  now: Instant,
): string[] {
  const old = sealedOldSecret !== null && oldSecretUntil !== null && now < oldSecretUntil ? [sealedOldSecret] : []
  return [sealedSecret, ...old].map((sealed) => vault.decrypt(sealed, { hookId, kind: 'webhook_secret' }))
}
