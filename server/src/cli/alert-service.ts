import type { Config } from '../config.ts'
import type { AlertService } from '../domain/alerts/alert-service.ts'
import type { Store } from '../domain/store.ts'
import type { OptionNames } from './option-names.ts'
import { publicUrl } from './repository-service.ts'

/** Imported on demand, because most commands send nothing. */
export async function openLocalAlertService(config: Config, store: Store): Promise<AlertService> {
  const [{ openAlertService }, { openVault }, { createLogger }] = await Promise.all([
    import('../service/alerts.ts'),
    import('../service/secret-key.ts'),
    import('../service/log.ts'),
  ])
  return openAlertService(config, {
    store,
    vault: await openVault(config),
    publicUrl: () => publicUrl(config),
    log: createLogger(config.logLevel),
    // The service finds due deliveries by polling.
    wake: () => {},
  })
}

export const alertOptions: OptionNames = {
  name: '--name',
  target: 'The target',
  slackToken: 'The bot token',
  prompts: '--prompts',
  events: '--events',
  hold: '--hold',
  minSignals: '--min-signals',
  recoveryHold: '--recovery-hold',
  repeat: '--repeat',
  signals: '--signals',
}
