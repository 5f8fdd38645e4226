import { invalid, isObject, parseTime } from './request.ts'
import { day, type Model, type Prompt, type Signal, type Vote } from './state.ts'

/** The fields of a request beyond value and metadata. */
export interface Details {
  version: string | number | null
  subject: string | null
  voter: string | null
  comment: string | null
  /** Null for the time of arrival. */
  occurredAt: number | null
}

export type Sent = Details & Pick<Signal, 'metadata'> & { value: Signal['value'] | null }

const minute = 60_000

export function parseDetails(fields: Record<string, unknown>, now: number): Details {
  const { version, subject, voter, comment, occurred_at, metadata } = fields
  const label = isObject(metadata) ? metadata['gen_ai.prompt.version'] : undefined
  const occurredAt = occurred_at == null ? null : parseTime(String(occurred_at))
  if (occurredAt !== null && (occurredAt > now + minute || occurredAt < now - 30 * day)) invalid()
  return {
    version: parseVersion(version) ?? (label as string | undefined) ?? null,
    subject: parseLabel(subject),
    voter: parseLabel(voter),
    comment: parseComment(comment),
    occurredAt: occurredAt !== null && occurredAt >= now ? null : occurredAt,
  }
}

/** What the schema of a signal says about its texts. */
export function hasValidShape({ subject, voter, comment }: Record<string, unknown>): boolean {
  const isLabel = (text: unknown) =>
    text == null || (typeof text === 'string' && text !== '' && [...text].length <= 255)
  const isComment = comment == null || (typeof comment === 'string' && [...comment].length <= 2_000)
  return isLabel(subject) && isLabel(voter) && isComment
}

function parseVersion(version: unknown): string | number | null {
  if (version == null) return null
  if (typeof version === 'number') return Number.isInteger(version) && version > 0 ? version : invalid()
  return /^[0-9a-f]{7,40}$/i.test(String(version)) ? String(version).toLowerCase() : invalid()
}

function parseLabel(text: unknown): string | null {
  if (text == null) return null
  return typeof text === 'string' && /^\P{Cc}{1,255}$/u.test(text) ? text : invalid()
}

function parseComment(text: unknown): string | null {
  if (text == null || text === '') return null
  return typeof text === 'string' && [...text].length <= 2_000 ? text : invalid()
}

/** The vote that a request would replace. Retention removes it once both of its times are before the start of retention. */
export function voteOn({ retainedSince }: Model, { votes }: Prompt, subject: string): Vote | undefined {
  const vote = votes.get(subject)
  return vote !== undefined && Math.max(vote.createdAt, vote.occurredAt) >= retainedSince ? vote : undefined
}

/** Adds a signal, and a vote if it has a subject. Their ID comes with the response. */
export function castVote(prompt: Prompt, sent: Sent & Pick<Signal, 'value'>, now: number): { setId(id: number): void } {
  const occurredAt = sent.occurredAt ?? now
  const signal: Signal = { id: 0, ...sent, createdAt: now, occurredAt }
  const vote: Vote = { id: 0, signal, createdAt: now, occurredAt, version: sent.version }
  prompt.signals.push(signal)
  if (sent.subject !== null) prompt.votes.set(sent.subject, vote)
  return {
    setId(id) {
      // A later vote of the same batch may have replaced the signal.
      for (const each of [signal, vote, vote.signal]) if (each !== null) each.id = id
    },
  }
}

/** Keeps the ID, the time of the first vote and, unless it is sent, the version and the time that it counts for. */
export function replaceVote(prompt: Prompt, vote: Vote, sent: Sent): void {
  prompt.signals = prompt.signals.filter((signal) => signal !== vote.signal)
  vote.version = sent.version ?? vote.version
  vote.occurredAt = sent.occurredAt ?? vote.occurredAt
  const { id, createdAt, occurredAt, version } = vote
  vote.signal = sent.value === null ? null : { ...sent, value: sent.value, id, createdAt, occurredAt, version }
  if (vote.signal !== null) prompt.signals.push(vote.signal)
}

/** Removes signals with their votes, as if they had never been. Returns how many. */
export function removeSignals(prompt: Prompt, isRemoved: (signal: Signal) => boolean): number {
  const removed = prompt.signals.filter(isRemoved)
  for (const [subject, vote] of prompt.votes) {
    if (vote.signal !== null && removed.includes(vote.signal)) prompt.votes.delete(subject)
  }
  prompt.signals = prompt.signals.filter((signal) => !removed.includes(signal))
  return removed.length
}

/** Removes the vote and, unless retention has removed it, its signal. A withdrawn vote counts as well. */
export function eraseVote({ retainedSince }: Model, prompt: Prompt, subject: string): number {
  const vote = prompt.votes.get(subject)
  if (vote === undefined) return 0
  prompt.votes.delete(subject)
  if (vote.signal === null) return Math.max(vote.createdAt, vote.occurredAt) >= retainedSince ? 1 : 0
  if (vote.occurredAt < retainedSince) return 0
  prompt.signals = prompt.signals.filter((signal) => signal !== vote.signal)
  return 1
}
