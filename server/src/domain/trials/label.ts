import type { Repository } from '../repositories/repository.ts'
import type { Instant } from '../time.ts'

/** A pull request on which someone set, changed or removed a label such as `promptledger: 10%`. */
export interface TrialLabel {
  prNumber: number
  /** Null if the label was removed. */
  share: number | null
  /** The head of the pull request at that moment. */
  head: string
  /** The user of the forge who did it. */
  actor: string
  changedAt: Instant
}

/** A label that has not been acted upon yet. */
export interface PendingLabel extends TrialLabel {
  organisationId: number
  repositoryId: number
  /** The trial that it started. */
  trialId: string | null
  attempts: number
}

/** Whether a user of the forge may write to the repository. An error that is not final may be over soon. */
export type HasWriteAccess = (
  repository: Repository,
  user: string,
) => Promise<boolean | { error: string; isFinal: boolean }>

const format = /^promptledger:\s*(\d{1,3}(?:\.\d{1,4})?)\s*%$/i

/** The share that the labels of a pull request ask for. Of several, the smallest counts. Null without one. */
export function shareOfLabels(names: readonly string[]): number | null {
  const shares = names.flatMap((name) => {
    const percent = Number(format.exec(name.trim())?.[1] ?? Number.NaN)
    return percent <= 100 ? [percent / 100] : []
  })
  return shares.length === 0 ? null : Math.min(...shares)
}
