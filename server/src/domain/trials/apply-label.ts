import { operator } from '../access/audit.ts'
import { DomainError } from '../errors.ts'
import type { RepositoryService } from '../repositories/repository-service.ts'
import type { Store } from '../store.ts'
import type { Instant } from '../time.ts'
import type { HasWriteAccess, PendingLabel } from './label.ts'
import { startTrial } from './start-trial.ts'

type LabelOutcome =
  | { kind: 'done'; trialId: string | null }
  | { kind: 'refused'; reason: string }
  | { kind: 'retry'; reason: string }

type Stores = Pick<Store, 'repositories' | 'prompts' | 'liveTexts' | 'trials' | 'facts'>

/** Starts, changes or ends the trial of a label. Ending needs no permission: it only returns people to the live version. */
export async function applyLabel(
  stores: Stores,
  repositories: Pick<RepositoryService, 'candidate' | 'texts' | 'deliveredBytes'>,
  hasWriteAccess: HasWriteAccess,
  label: PendingLabel,
  now: Instant,
): Promise<LabelOutcome> {
  const { organisationId, repositoryId, prNumber: pull, head: commit, share, actor, trialId } = label
  const repository = await stores.repositories.find(repositoryId)
  if (repository === null || repository.disconnectedAt !== null) return { kind: 'done', trialId }
  const known = trialId === null ? null : await stores.trials.find(organisationId, trialId)
  const trial = known?.state === 'ended' ? null : known
  if (share === null) {
    if (trial !== null) await stores.trials.change(trial, { ending: 'requested' }, ['stopped'], now, operator)
    return { kind: 'done', trialId: null }
  }
  if (trial?.share === share) return { kind: 'done', trialId }
  const access = await hasWriteAccess(repository, actor)
  if (typeof access === 'object') return { kind: access.isFinal ? 'refused' : 'retry', reason: access.error }
  if (!access) return { kind: 'refused', reason: `${actor} has no write access to the repository.` }
  if (trial !== null) {
    await stores.trials.change(trial, { share }, [], now, operator)
    return { kind: 'done', trialId }
  }
  try {
    const request = { pull, commit, repositoryId, prompts: null, share, ramp: null }
    const starter = { access: { organisationId, prompts: null }, by: operator, name: actor }
    const started = await startTrial(stores, repositories, request, starter, now)
    return { kind: 'done', trialId: started.id }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { kind: 'refused', reason: sentence(error.message) }
  }
}

/** `share must be …` as a sentence. */
function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`
}
