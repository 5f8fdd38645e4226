import type { PlanLimits } from '../access/plan.ts'
import { DomainError } from '../errors.ts'
import { validComment } from '../signals/details.ts'
import { recordSignal, type SignalStore, type SignalValue } from '../signals/signal.ts'
import type { Voters } from '../signals/voter.ts'
import type { Instant } from '../time.ts'
import type { VerifiedToken } from './token.ts'

/** What the holder of a token says. Null withdraws the vote. */
interface Vote {
  value: SignalValue | null
  comment: string | null
}

/** Records, replaces or withdraws the vote on the token's subject, and returns it as it is then. */
export async function castVote(
  signals: SignalStore,
  voters: Voters,
  planLimits: PlanLimits,
  { access, prompt, version, subject, voter: name }: VerifiedToken,
  vote: Vote,
  now: Instant,
): Promise<Vote> {
  const { value } = vote
  const comment = value === null || vote.comment === null || vote.comment === '' ? null : validComment(vote.comment)
  const voter = name === null ? null : await voters.hash(access.organisationId, name)
  const details = { version, subject, voter, comment, occurredAt: null, traceId: null }
  const signal = { prompt, value, metadata: null, details, body: '', idempotencyKey: undefined }
  try {
    await recordSignal(signals, access, planLimits, signal, now)
  } catch (error) {
    // A page that is closed or offline sends a vote twice, so withdrawing one that does not exist has to succeed.
    if (value !== null || !(error instanceof DomainError && error.code === 'not_found')) throw error
  }
  return { value, comment }
}
