import type { Logger } from 'pino'
import { createAlertService } from '../alerts/alert-service.ts'
import { createSendMessage } from '../alerts/send.ts'
import type { Config } from '../config.ts'
import type { AlertService } from '../domain/alerts/alert-service.ts'
import type { SendMessage } from '../domain/alerts/channel.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { Store } from '../domain/store.ts'

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
  return createSendMessage({
    network: { allowPrivate, allowHttp: allowPrivate },
    mail,
    publicUrl,
    clock: Date.now,
    log,
  })
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
