import type { Tally } from '../signals/tally.ts'
import { emptyTally } from '../signals/tally.ts'
import type { VoteStore } from '../signals/votes.ts'
import { cutBlocks, type Sum } from './blocks.ts'
import { type Evidence, evidenceOfChanges } from './evidence.ts'
import { explain } from './explanation.ts'
import { type Judgement, judge } from './judgement.ts'
import type { Life } from './live-window.ts'
import { singleVotesOf } from './short-windows.ts'
import { type VoteHistory, type VoteStores, windowsOf } from './vote-history.ts'
import { defaultWander, type Wander } from './wander.ts'
import type { AttributedBy, WindowSums } from './window-sums.ts'

/** A change that went live, the votes on it and on the change before it, and what they say about it. */
export interface JudgedChange extends Judgement {
  life: Life
  before: Tally
  after: Tally
  /** How it is known that the votes in `before` and `after` count for them. */
  attributedBy: AttributedBy
  /** Of the votes in `after`, those without a version that came while another version was live too. */
  unattributed: number
  explanation: string
}

export interface JudgeStores {
  signals: VoteStores['signals'] & VoteStore
}

/** Judges these changes of the history, in this order. */
export async function judgeChanges(
  stores: JudgeStores,
  history: VoteHistory,
  wanted: readonly Life[],
  wander: Readonly<Wander> = defaultWander,
): Promise<JudgedChange[]> {
  if (wanted.length === 0) return []
  const { lives } = history
  const placeOf = new Map(lives.map((life, i) => [life.change.id, i]))
  const pairs = wanted.map(({ change, earlier }): Pair => {
    return { after: placeOf.get(change.id) as number, before: earlier === null ? undefined : placeOf.get(earlier.id) }
  })
  const compared = new Set(pairs.flatMap(({ before, after }) => (before === undefined ? [after] : [before, after])))
  const windows = await windowsOf(
    stores,
    history,
    [...compared].map((place) => lives[place] as Life),
  )
  const evidence = await evidenceOf(stores, history, windows, pairs, wander)
  return wanted.map((life, i) => {
    const { before, after } = pairs[i] as Pair
    return judged(life, windows[before ?? -1], windows[after] as WindowSums, evidence[i] ?? null)
  })
}

/** The places of the windows after and before a change. */
interface Pair {
  after: number
  before: number | undefined
}

/** The evidence on each of these changes. All that can be are judged in one pass over the whole history. */
async function evidenceOf(
  { signals }: JudgeStores,
  history: VoteHistory,
  windows: WindowSums[],
  pairs: Pair[],
  wander: Readonly<Wander>,
): Promise<(Evidence | null)[]> {
  const hourly = windows.map(({ sums }) => sums)
  const sides = pairs.flatMap(({ before, after }) =>
    before === undefined
      ? []
      : [
          { place: before, isAfter: false },
          { place: after, isAfter: true },
        ],
  )
  const single = await singleVotesOf(signals, history, windows, sides)
  const inOrder = new Set<number>()
  const own = new Map<Pair, Sum[][]>()
  let side = 0
  for (const pair of pairs) {
    const { before, after } = pair
    if (before === undefined) continue
    const [last, first] = [single[side++] ?? null, single[side++] ?? null]
    // After a rollback, a change follows on one that went live long before it. What came between them is left out.
    if (last === null && first === null && before === after - 1) inOrder.add(after)
    else
      own.set(pair, [...hourly.slice(0, before), last ?? (hourly[before] as Sum[]), first ?? (hourly[after] as Sum[])])
  }
  const found =
    inOrder.size === 0 ? [] : evidenceOfChanges(cutBlocks(hourly), hourly.length, wander, (i) => inOrder.has(i))
  return pairs.map((pair) => {
    const chain = own.get(pair)
    if (chain === undefined) return found[pair.after] ?? null
    return evidenceOfChanges(cutBlocks(chain), chain.length, wander, (i) => i === chain.length - 1).at(-1) ?? null
  })
}

function judged(
  life: Life,
  earlier: WindowSums | undefined,
  window: WindowSums,
  evidence: Evidence | null,
): JudgedChange {
  const before = earlier?.tally ?? emptyTally
  const after = window.tally
  const judgement = judge({ before, after, evidence })
  const sum = (by: keyof AttributedBy) => (earlier?.attributedBy[by] ?? 0) + window.attributedBy[by]
  return {
    life,
    before,
    after,
    attributedBy: { version: sum('version'), deployment: sum('deployment'), time: sum('time') },
    unattributed: window.unattributed,
    ...judgement,
    explanation: explain(judgement, before, after),
  }
}
