import type { ForgeName, Repository } from '../../domain/repositories/repository.ts'
import { loadSettings, settingColumns } from '../../domain/repositories/settings.ts'
import type { Row, Value } from './database.ts'

export const repositoryColumns = `id, organisation_id, forge, url, path, similarity, hook_id, sealed_token, sealed_ssh_key, ssh_public_key,
  ssh_host_key, connected_by_operator, sealed_secret, sealed_old_secret,
  old_secret_until, default_branch, tip, web_url, forge_id, incomplete, unread_pulls_below, last_sync_at, last_error, due_at, wakes,
  rejected_deliveries, last_rejected_at, last_rejection, ${Object.keys(settingColumns).join()}, report_error, delivery_error, history_bytes,
  created_at, disconnected_at, (
    select d.received_at from deliveries d where d.organisation_id = repositories.organisation_id
      and d.repository_id = repositories.id order by d.id desc limit 1) as last_delivery_at`

export function toRepository(row: Row): Repository {
  return {
    id: row.id as number,
    organisationId: row.organisation_id as number,
    forge: row.forge as ForgeName,
    url: row.url as string,
    path: row.path as string,
    similarity: row.similarity as number,
    hookId: row.hook_id as string,
    sealedToken: row.sealed_token as string | null,
    sealedSshKey: row.sealed_ssh_key as string | null,
    sshPublicKey: row.ssh_public_key as string | null,
    sshHostKey: row.ssh_host_key as string | null,
    connectedByOperator: row.connected_by_operator === 1,
    sealedSecret: row.sealed_secret as string,
    sealedOldSecret: row.sealed_old_secret as string | null,
    oldSecretUntil: row.old_secret_until as number | null,
    defaultBranch: row.default_branch as string | null,
    tip: row.tip as string | null,
    webUrl: row.web_url as string | null,
    forgeId: row.forge_id as string | null,
    incomplete: row.incomplete === 1,
    unreadPullsBelow: row.unread_pulls_below as number | null,
    lastDeliveryAt: row.last_delivery_at as number | null,
    rejectedDeliveries: row.rejected_deliveries as number,
    lastRejectedAt: row.last_rejected_at as number | null,
    lastRejection: row.last_rejection as string | null,
    lastSyncAt: row.last_sync_at as number | null,
    lastError: row.last_error as string | null,
    dueAt: row.due_at as number,
    wakes: row.wakes as number,
    ...loadSettings(row),
    reportError: row.report_error as string | null,
    deliveryError: row.delivery_error as string | null,
    historyBytes: row.history_bytes as number,
    createdAt: row.created_at as number,
    disconnectedAt: row.disconnected_at as number | null,
  }
}

/** The globs of the production environments; null for the default. */
export function patternsOf(text: Value | undefined): string[] | null {
  return text == null ? null : (JSON.parse(text as string) as string[])
}
