import type { Logger } from 'pino'
import type { ReportOnPull } from '../domain/alerts/pull-comment.ts'
import type { RepositoryService } from '../domain/repositories/repository-service.ts'
import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'
import type { HasWriteAccess } from '../domain/trials/label.ts'

/** The dependencies of judging trials. */
export interface TrialsContext {
  store: Store
  clock: Clock
  log: Logger
  /** Shows the figures on pull requests. The notifier, which retries, says what happens to a trial. */
  reportOnPull: ReportOnPull
  repositories: Pick<RepositoryService, 'candidate' | 'texts'>
  hasWriteAccess: HasWriteAccess
}
