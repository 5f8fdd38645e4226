import type { Config } from '../config.ts'
import type { AlertService } from '../domain/alerts/alert-service.ts'
import { InvalidFieldError } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
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

const optionOf: Record<string, string> = {
  name: '--name',
  target: 'The target',
  prompts: '--prompts',
  events: '--events',
  hold: '--hold',
  minSignals: '--min-signals',
  recoveryHold: '--recovery-hold',
  repeat: '--repeat',
}

/** The error with the name of the option that an invalid field comes from. */
export function withOptionName(error: Error): Error {
  const option = error instanceof InvalidFieldError ? optionOf[error.field] : undefined
  return option === undefined ? error : new Error(`${option} ${(error as InvalidFieldError).problem}`)
}
