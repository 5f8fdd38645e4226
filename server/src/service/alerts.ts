import type { Logger } from 'pino'
import { createAlertService } from '../alerts/alert-service.ts'
import type { Config } from '../config.ts'
import type { AlertService } from '../domain/alerts/alert-service.ts'
import type { SendEvents, SendMessage } from '../domain/alerts/channel.ts'
import type { ReportIssue, ReportOnPull } from '../domain/alerts/pull-comment.ts'
import type { Propose } from '../domain/proposals/proposal.ts'
import type { RepositoryService } from '../domain/repositories/repository-service.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { Store } from '../domain/store.ts'
import type { HasWriteAccess } from '../domain/trials/label.ts'
import type { SendMail } from '../http/context.ts'
import { lazy } from '../http/lazy.ts'

interface Dependencies {
  store: Store
  vault: Vault
  publicUrl: () => string
  log: Logger
}

/** A function that is imported with its first call: most processes tell no one anything. */
function onDemand<Request extends unknown[], Result>(load: () => Promise<(...request: Request) => Promise<Result>>) {
  const loaded = lazy(load)
  return async (...request: Request): Promise<Result> => (await loaded())(...request)
}

/** Sends to alerts, with the configured settings. */
export function openSending(
  { allowPrivateAlertTargets: allowPrivate, mail }: Config,
  { publicUrl, log }: Pick<Dependencies, 'publicUrl' | 'log'>,
): { send: SendMessage; sendEvents: SendEvents } {
  const context = { network: { allowPrivate, allowHttp: allowPrivate }, mail, publicUrl, clock: Date.now, log }
  return {
    send: onDemand(async () => (await import('../alerts/send.ts')).createSendMessage(context)),
    sendEvents: async (...request) => (await import('../alerts/webhook.ts')).sendCloudEvents(context, ...request),
  }
}

/** Sends sign-in links and invitations with the configured settings. Null if email is not set up. */
export function openSendMail({ mail }: Pick<Config, 'mail'>): SendMail | null {
  if (mail === null) return null
  return async (message) => (await import('../alerts/send.ts')).sendPlainEmail(mail, message)
}

interface ForgeActions {
  reportOnPull: ReportOnPull
  reportIssue: ReportIssue
  propose: Propose
  /** Checks who set a label. */
  hasWriteAccess: HasWriteAccess
}

/** What is done on forges with the tokens of repositories, with the configured settings. */
export function openForgeActions(
  { allowHttpRepositories: allowHttp, allowPrivateRepositoryAddresses: allowPrivateAddresses }: Config,
  dependencies: Dependencies & { repositories: RepositoryService },
): ForgeActions {
  const context = { ...dependencies, clock: Date.now, allowPrivateAddresses, allowHttp }
  return {
    reportOnPull: onDemand(async () => (await import('../alerts/pull-comment.ts')).createReportOnPull(context)),
    reportIssue: onDemand(async () => (await import('../alerts/issue.ts')).createReportIssue(context)),
    propose: onDemand(async () => (await import('../proposals/propose.ts')).createPropose(context)),
    hasWriteAccess: onDemand(async () => (await import('../alerts/open-forge.ts')).createHasWriteAccess(context)),
  }
}

/** `wake` is called when a delivery is due at once. */
export function openAlertService(config: Config, dependencies: Dependencies & { wake: () => void }): AlertService {
  const { store, vault, wake } = dependencies
  return createAlertService({
    store,
    vault,
    clock: Date.now,
    send: openSending(config, dependencies).send,
    targets: { allowPrivate: config.allowPrivateAlertTargets, hasMail: config.mail !== null },
    wake,
  })
}
