import { invalid } from './request.ts'
import { day, isRetained, type Model, type Prompt, type Signal } from './state.ts'

/** A signal as a client sends it. */
export interface SentSignal extends Partial<Pick<Signal, 'metadata' | 'version' | 'subject' | 'voter'>> {
  value: Signal['value']
  occurred_at?: string
}

const minute = 60_000

/** The time that a signal counts for. Undefined for the time of arrival. */
export function parseOccurredAt({ occurred_at }: SentSignal, now: number): number | undefined {
  if (occurred_at === undefined) return undefined
  const at = Date.parse(occurred_at)
  if (at > now + minute || at < now - 30 * day) invalid()
  return at < now ? at : undefined
}

/** The vote that a request would replace. */
export function voteOn(model: Model, { signals }: Prompt, subject: string | null): Signal | undefined {
  return signals.find((signal) => subject !== null && signal.subject === subject && isVoteRetained(model, signal))
}

/** Retention removes a vote once both of its times are before the start of retention. */
function isVoteRetained({ retainedSince }: Model, { createdAt, occurredAt }: Signal): boolean {
  return Math.max(createdAt, occurredAt) >= retainedSince
}

/** Removes retained signals with their votes, as if they had never been. Returns how many. */
export function removeSignals(model: Model, prompt: Prompt, isWanted: (signal: Signal) => boolean): number {
  const isRemoved = (signal: Signal) => signal.value !== null && isRetained(model, signal) && isWanted(signal)
  const kept = prompt.signals.filter((signal) => !isRemoved(signal))
  const removed = prompt.signals.length - kept.length
  prompt.signals = kept
  return removed
}

/** Removes the vote and, unless retention has removed it, its signal. A withdrawn vote counts as well. */
export function eraseVote(model: Model, prompt: Prompt, subject: string): number {
  const vote = voteOn(model, prompt, subject)
  if (vote === undefined) return 0
  vote.subject = null
  return vote.value === null ? 1 : removeSignals(model, prompt, (signal) => signal === vote)
}
