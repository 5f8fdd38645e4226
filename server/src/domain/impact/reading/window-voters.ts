import { countOf } from '../../signals/tally.ts'
import type { VoteStore } from '../../signals/votes.ts'
import { derivedFrom } from '../cache.ts'
import type { LivePeriod } from '../live/live-window.ts'
import { type VoteHistory, voteWindowOf } from './vote-history.ts'
import { createWindowMemory } from './window-memory.ts'
import type { WindowSums } from './window-sums.ts'
import { type VoteOrder, type VoterSquares, voterSquares } from './window-votes.ts'

/** The votes that count for a change, and at which end of them those are that a comparison is about. */
export interface ComparedWindow {
  history: VoteHistory
  period: LivePeriod
  window: WindowSums
  order: VoteOrder
}

// Bounds the time of one request. Windows beyond it count like the others of the prompt until a later request counts them.
const maxVotesPerRequest = 100_000

const counted = createWindowMemory<VoterSquares>()
const organisationsWithVoters = () => new Set<number>()

/**
 * Lets each voter count once: sets `squares` of the sums of these windows, whose prompts share one organisation. Returns how
 * many votes of a prompt are worth an independent one, for prompts whose votes name voters.
 */
export async function countVoters(
  store: VoteStore,
  windows: readonly ComparedWindow[],
  maxVotes = maxVotesPerRequest,
): Promise<Map<VoteHistory, number>> {
  const designEffects = new Map<VoteHistory, number>()
  let left = maxVotes
  for (const [history, ofPrompt] of Map.groupBy(windows, (each) => each.history)) {
    const all: VoterSquares = { votes: 0, squares: 0 }
    const squaresOf = new Map<ComparedWindow, VoterSquares>()
    for (const compared of ofPrompt) {
      const squares = await squaresIn(store, compared, left > 0)
      if (squares === null) continue
      if (!squares.isRemembered) left -= squares.votes
      squaresOf.set(compared, squares)
      all.votes += squares.votes
      all.squares += squares.squares
    }
    if (all.squares === all.votes) continue
    designEffects.set(history, ratioOf(all))
    for (const compared of ofPrompt) setDesignEffect(compared.window, ratioOf(squaresOf.get(compared) ?? all))
  }
  return designEffects
}

async function squaresIn(
  store: VoteStore,
  { history, period, window, order }: ComparedWindow,
  mayRead: boolean,
): Promise<(VoterSquares & { isRemembered: boolean }) | null> {
  const { prompt, moment } = history
  const votes = countOf(window.tally)
  const key = `${prompt.id} ${period.change.id} ${order}`
  const known = moment.isPast ? null : counted.recall(store, key, votes)
  if (known !== null) return { ...known, isRemembered: true }
  if (votes < 2 || !mayRead) return null
  const squares = await voterSquares(store, prompt, voteWindowOf(history, period), order)
  if (!moment.isPast) counted.remember(store, key, votes, squares)
  return { ...squares, isRemembered: false }
}

function setDesignEffect(window: WindowSums, designEffect: number): void {
  window.designEffect = designEffect
  for (const sum of window.sums) sum.squares = countOf(sum) * designEffect
}

/** Whether any vote in the organisation of these prompts names a voter. */
export async function hasVoters(
  store: VoteStore,
  [first]: readonly Pick<ComparedWindow, 'history'>[],
): Promise<boolean> {
  if (first === undefined) return false
  const { organisationId } = first.history.prompt
  const known = derivedFrom(store, organisationsWithVoters)
  if (!known.has(organisationId) && (await store.hasVoters(organisationId))) known.add(organisationId)
  return known.has(organisationId)
}

function ratioOf({ votes, squares }: VoterSquares): number {
  return votes === 0 ? 1 : squares / votes
}
