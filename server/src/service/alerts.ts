import type { Logger } from 'pino'
import { createAlertService } from '../alerts/alert-service.ts'
import type { Config } from '../config.ts'
import type { AlertService } from '../domain/alerts/alert-service.ts'
import type { SendEvents, SendMessage } from '../domain/alerts/channel.ts'
import type { ReportOnPull } from '../domain/alerts/pull-comment.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { Store } from '../domain/store.ts'
import type { HasWriteAccess } from '../domain/trials/label.ts'
import type { SendMail } from '../http/context.ts'

interface Dependencies {
  store: Store
  vault: Vault
  publicUrl: () => string
  log: Logger
  /** Called when a delivery is due at once. */
  wake: () => void
}

/** Sends messages with the configured settings. */
export function openSendMessage(
  { allowPrivateAlertTargets: allowPrivate, mail }: Config,
  { publicUrl, log }: Pick<Dependencies, 'publicUrl' | 'log'>,
): SendMessage {
  const context = { network: { allowPrivate, allowHttp: allowPrivate }, mail, publicUrl, clock: Date.now, log }
  let send: SendMessage | null = null
  return async (target, id, message) => {
    // Imported with the first message: most processes send none.
    send ??= (await import('../alerts/send.ts')).createSendMessage(context)
    return send(target, id, message)
  }
}

/** Sends signals with the configured settings. */
export function openSendEvents(
  { allowPrivateAlertTargets: allowPrivate, mail }: Config,
  { publicUrl, log }: Pick<Dependencies, 'publicUrl' | 'log'>,
): SendEvents {
  const context = { network: { allowPrivate, allowHttp: allowPrivate }, mail, publicUrl, clock: Date.now, log }
  return async (...request) => (await import('../alerts/webhook.ts')).sendCloudEvents(context, ...request)
}

/** Sends sign-in links and invitations with the configured settings. Null if email is not set up. */
export function openSendMail({ mail }: Pick<Config, 'mail'>): SendMail | null {
  if (mail === null) return null
  return async (message) => (await import('../alerts/send.ts')).sendPlainEmail(mail, message)
}

/** Reports on pull requests with the configured settings. */
export function openReportOnPull(
  { allowHttpRepositories, allowPrivateRepositoryAddresses }: Config,
  { store, vault, publicUrl, log }: Omit<Dependencies, 'wake'>,
): ReportOnPull {
  const addresses = { allowPrivateAddresses: allowPrivateRepositoryAddresses, allowHttp: allowHttpRepositories }
  const context = { store, vault, clock: Date.now, publicUrl, log, ...addresses }
  let report: ReportOnPull | null = null
  return async (message) => {
    report ??= (await import('../alerts/pull-comment.ts')).createReportOnPull(context)
    return report(message)
  }
}

/** Checks who set a label, with the configured settings. */
export function openHasWriteAccess(
  { allowHttpRepositories, allowPrivateRepositoryAddresses }: Config,
  { store, vault, publicUrl, log }: Omit<Dependencies, 'wake'>,
): HasWriteAccess {
  const addresses = { allowPrivateAddresses: allowPrivateRepositoryAddresses, allowHttp: allowHttpRepositories }
  const context = { store, vault, clock: Date.now, publicUrl, log, ...addresses }
  return async (repository, user) => {
    const { createHasWriteAccess } = await import('../alerts/write-access.ts')
    return createHasWriteAccess(context)(repository, user)
  }
}

export function openAlertService(config: Config, dependencies: Dependencies): AlertService {
  const { store, vault, wake } = dependencies
  return createAlertService({
    store,
    vault,
    clock: Date.now,
    send: openSendMessage(config, dependencies),
    targets: { allowPrivate: config.allowPrivateAlertTargets, hasMail: config.mail !== null },
    wake,
  })
}
