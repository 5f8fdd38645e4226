import { hash } from 'node:crypto'
import type { HistoryEntry } from '../history/entry.ts'
import { sanitisedLine } from '../text.ts'
import type { Instant } from '../time.ts'
import { ownerOf } from '../triage.ts'
import type { Trial } from '../trials/trial.ts'
import type { RegressionMessage, ShiftMessage, ToldPrompt, TrialMessage } from './message.ts'
import type { Notice, NoticedFall, NoticedPrompt, NoticedRegression } from './notice.ts'

type Told = Pick<RegressionMessage, 'event' | 'at' | 'organisation' | 'title'>

// A message names no more prompts, so that one about a thousand of them can still be sent.
const maxPrompts = 100
const maxTitleLength = 500

/**
 * What to say about a change that made prompts worse. `before` is what was said last, for what is gone since. Null if there is nothing to
 * say anything about.
 */
export function composeRegressionMessage(
  notice: Pick<Notice, 'organisationId' | 'subject'>,
  regressions: readonly NoticedRegression[],
  told: Told,
  before: RegressionMessage | null,
): RegressionMessage | null {
  const change = regressions.find((regression) => regression.change !== null)?.change ?? null
  const entry = change === null ? (before?.change ?? null) : entryOf(change)
  if (entry === null) return null
  const prompts = regressions.slice(0, maxPrompts).map((regression) => toldPrompt(regression, entry))
  const all = prompts.length > 0 ? prompts : (before?.prompts ?? [])
  if (all.length === 0) return null
  const { event, at, organisation, title } = told
  return {
    event,
    at,
    organisation,
    change: entry,
    title: title ?? before?.title ?? null,
    repositoryId: change === null ? (before?.repositoryId ?? null) : change.repositoryId,
    prompts: all,
    dedupKey: dedupKeyOf(notice),
  }
}

function entryOf({ message: _, repositoryId: __, ...entry }: NonNullable<NoticedRegression['change']>): HistoryEntry {
  return entry
}

function toldPrompt(regression: NoticedRegression, change: HistoryEntry): ToldPrompt {
  const { prompt, id, entryId, state, rateBefore, rateAfter, signalsBefore, signalsAfter } = regression
  const { difference, interval, repairedBy, repairedEntry, liveFrom } = regression
  return {
    prompt: named(prompt),
    regressionId: id,
    entryId,
    state,
    liveFrom: liveFrom ?? regression.change?.createdAt ?? change.createdAt,
    before: { rate: rateBefore, signals: signalsBefore ?? 0 },
    after: { rate: rateAfter, signals: signalsAfter ?? 0 },
    difference,
    interval,
    explanation: explanationOf(regression),
    repairedBy,
    repairedEntry,
    owner: ownerOf(regression),
    comments: [],
  }
}

function explanationOf(regression: NoticedRegression): string {
  const { state, explanation, repairedBy, repairedEntry, dismissedBy, note } = regression
  if (state === 'dismissed') return `Dismissed${dismissedBy === null ? '' : ` by ${dismissedBy}`}: ${note}`
  if (state !== 'repaired') return explanation
  if (repairedBy === 'revert') return 'The prompt has its text from before the change again.'
  return repairedEntry === null
    ? 'The rate is back, without another change.'
    : 'The rate is back since a later change went live.'
}

/** The same for all messages about the change, and for no other organisation. Hashed, because the subject names a webhook. */
function dedupKeyOf({ organisationId, subject }: Pick<Notice, 'organisationId' | 'subject'>): string {
  return `promptledger-${hash('sha256', `${organisationId} ${subject}`).slice(0, 32)}`
}

/** The title of a pull request, or the first line of a commit message. */
export function titleOf(text: string | null | undefined): string | null {
  const [line = ''] = (text ?? '').trimStart().split('\n', 1)
  return sanitisedLine(line, maxTitleLength, '') || null
}

/** What to say about rates that fell without a change, the largest loss first. */
export function composeShiftMessage(
  falls: readonly NoticedFall[],
  at: Instant,
  organisation: ShiftMessage['organisation'],
): ShiftMessage {
  const loss = ({ rateBefore, rateAfter }: NoticedFall) => rateBefore - rateAfter
  const largestFirst = falls.toSorted((a, b) => loss(b) - loss(a))
  const ofPrompts = new Map(largestFirst.toReversed().map((fall) => [fall.prompt.publicId, fall]))
  const prompts = [...ofPrompts.values()].sort((a, b) => loss(b) - loss(a))
  return {
    event: 'shift.unexplained',
    at,
    organisation,
    prompts: prompts
      .slice(0, maxPrompts)
      .map(({ prompt, id, at: shiftedAt, between, rateBefore, rateAfter, owner, ...shift }) => ({
        prompt: named(prompt),
        shiftId: id,
        owner: ownerOf({ owner, change: null }),
        shiftedAt,
        between,
        rateBefore,
        rateAfter,
        candidates: shift.sharedWith === null ? (shift.candidates?.count ?? 0) : 0,
      })),
    promptCount: prompts.length,
  }
}

/** What to say about a trial, with what it found so far. */
export function composeTrialMessage(
  event: TrialMessage['event'],
  trial: Trial,
  prUrl: string | null,
  organisation: TrialMessage['organisation'],
  at: Instant,
): TrialMessage {
  const { id, repositoryId, prNumber, commitSha, state, share, startedBy, startedAt, ending, findings } = trial
  return {
    event,
    at,
    organisation,
    trial: { id, repositoryId, prNumber, commitSha, state, share, startedBy, startedAt, ending, findings },
    prUrl,
    prompts: trial.prompts.map(({ prompt }) => ({ prompt: { publicId: prompt.publicId, name: prompt.name } })),
  }
}

function named({ publicId, name }: NoticedPrompt): Pick<NoticedPrompt, 'publicId' | 'name'> {
  return { publicId, name }
}
