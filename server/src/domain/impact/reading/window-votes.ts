import type { Prompt } from '../../prompt.ts'
import type { Span } from '../../signals/interval.ts'
import type { VoteWindow } from '../../signals/signal.ts'
import type { VersionText } from '../../signals/version.ts'
import type { Vote, VoteRead, VoteStore } from '../../signals/votes.ts'
import { nextTurn } from '../../time.ts'
import type { Sum } from '../model/blocks.ts'
import { squaresAdded } from '../model/effective-sample-size.ts'

/** `oldest` reads from the start of the window, `newest` from its end. */
export type VoteOrder = VoteRead['order']

// The limits make the cost of a window independent of its size. They only depend on signals that come first in the order of the
// read, so the signals after a change that are judged stay the same while more arrive.
export const maxShortWindowVotes = 2_000
export const maxExaminedVotes = 20_000
export const maxMetadataBytes = 16 * 1024 * 1024
const maxVersions = 50

// SQLite blocks the process during a read: 1,000 signals take about 2 ms. Metadata is up to 16 KiB for each signal.
const maxReadSize = 1_000
const minReadSize = 50
// A window whose first votes name no voter is taken for one without.
const maxVotesUntilVoter = 500
const maxReadSizeWithMetadata = 200

interface Source {
  read: Omit<VoteRead, 'limit' | 'order'>
  buffer: Vote[]
  /** The votes of the buffer that have been taken. */
  taken: number
  /** No vote of the source comes earlier in the order. */
  bound: number
  isDone: boolean
}

/** The first votes of the window in the order, up to `max`, in batches. Other requests run between them. */
export async function* readVotes(
  store: VoteStore,
  prompt: Prompt,
  window: VoteWindow,
  order: VoteOrder,
  max: number,
  member?: string,
): AsyncGenerator<Vote[]> {
  const sign = order === 'oldest' ? 1 : -1
  const sources = sourcesOf(window, order)
  const perSource = Math.ceil(max / Math.max(1, sources.length))
  const size = Math.min(Math.max(perSource, minReadSize), member === undefined ? maxReadSize : maxReadSizeWithMetadata)
  let batch: Vote[] = []
  let [count, examined, bytes] = [0, 0, 0]
  while (count < max && bytes <= maxMetadataBytes) {
    const source = firstOf(sources, sign)
    if (source === null) break
    const vote = source.buffer[source.taken]
    if (vote !== undefined) {
      batch.push(vote)
      count++
      bytes += vote.metadata?.length ?? 0
      source.taken++
      source.bound = sign * (nextOf(source)?.at ?? source.read.after?.at ?? vote.at)
      continue
    }
    const limit = Math.min(size, maxExaminedVotes - examined)
    if (limit <= 0) break
    const slice = await store.votes(prompt, { ...source.read, order, limit }, member)
    examined += slice.examined
    source.buffer = slice.votes
    source.taken = 0
    source.isDone = slice.last === null
    source.read.after = slice.last
    source.bound = sign * (slice.votes[0]?.at ?? slice.last?.at ?? 0)
    if (batch.length > 0) yield batch
    batch = []
    await nextTurn()
  }
  if (batch.length > 0) yield batch
}

function sourcesOf({ versions, spans, unversionedOnly, until }: VoteWindow, order: VoteOrder): Source[] {
  const source = (read: Span & { version?: VersionText | null }): Source => ({
    read: { ...read, after: null },
    buffer: [],
    taken: 0,
    bound: order === 'oldest' ? read.from : -read.until,
    isDone: false,
  })
  return [
    ...versions.slice(0, maxVersions).map((version) => source({ version, from: 0, until })),
    ...spans
      .map((span) => ({ from: span.from, until: Math.min(span.until, until) }))
      .map((span) => source(unversionedOnly ? { ...span, version: null } : span)),
  ]
}

function nextOf({ buffer, taken }: Source): Vote | undefined {
  return buffer[taken]
}

/** The source with the next vote, or with a read that may find it. */
function firstOf(sources: Source[], sign: number): Source | null {
  let first: Source | null = null
  for (const source of sources) {
    if (source.isDone && nextOf(source) === undefined) continue
    if (first === null || source.bound < first.bound) first = source
    else if (source.bound === first.bound && isEarlier(source, first, sign)) first = source
  }
  return first
}

function isEarlier(a: Source, b: Source, sign: number): boolean {
  const [x, y] = [nextOf(a), nextOf(b)]
  // A read comes before a vote at the same time, because it may find an earlier one.
  if (x === undefined || y === undefined) return x === undefined && y !== undefined
  return sign * (x.id - y.id) < 0
}

/** The first votes of the window in the order, oldest first. */
export async function votesOf(
  store: VoteStore,
  prompt: Prompt,
  window: VoteWindow,
  order: VoteOrder,
  max = maxShortWindowVotes,
): Promise<Vote[]> {
  const votes = (await Array.fromAsync(readVotes(store, prompt, window, order, max))).flat()
  return order === 'oldest' ? votes : votes.reverse()
}

/** A sum for each vote, for windows that are too short for sums by hour. `votes` are oldest first. */
export function sumsOfVotes(votes: readonly Vote[]): Sum[] {
  const votesPerVoter = new Map<string, number>()
  return votes.map(({ at, value, voter }) => ({
    start: at,
    positive: value === 'positive' ? 1 : 0,
    negative: value === 'negative' ? 1 : 0,
    squares: squaresAdded(countVoter(votesPerVoter, voter)),
  }))
}

/** Counts a vote of the voter, and returns how many came before it. */
function countVoter(votesPerVoter: Map<string, number>, voter: string | null): number {
  if (voter === null) return 0
  const earlier = votesPerVoter.get(voter) ?? 0
  votesPerVoter.set(voter, earlier + 1)
  return earlier
}

/** How often voters of a window repeat themselves, from the votes that were read of it. */
export interface VoterSquares {
  votes: number
  /** The sum of the squared numbers of votes per voter. */
  squares: number
}

/** Counts the voters of the window, up to the limit of signals that may be examined. */
export async function voterSquares(
  store: VoteStore,
  prompt: Prompt,
  window: VoteWindow,
  order: VoteOrder,
): Promise<VoterSquares> {
  const votesPerVoter = new Map<string, number>()
  let [votes, squares] = [0, 0]
  for await (const batch of readVotes(store, prompt, window, order, maxExaminedVotes)) {
    votes += batch.length
    for (const { voter } of batch) squares += squaresAdded(countVoter(votesPerVoter, voter))
    if (votesPerVoter.size === 0 && votes >= maxVotesUntilVoter) break
  }
  return { votes, squares }
}
