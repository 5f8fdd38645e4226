import { emptyTally, type Tally } from '../signals/tally.ts'
import type { VoteStore } from '../signals/votes.ts'
import { cutBlocks, type Sum } from './blocks.ts'
import { chainOf } from './chain.ts'
import { type Evidence, evidenceOfChanges, levelsBefore } from './evidence.ts'
import { explain } from './explanation.ts'
import { type Judgement, judge } from './judgement.ts'
import type { Life } from './live-window.ts'
import type { Levels } from './local-level.ts'
import { type Side, sumsOfSides } from './short-windows.ts'
import type { VoteHistory, VoteStores } from './vote-history.ts'
import { defaultWander, type Wander } from './wander.ts'
import { type AttributedBy, type WindowSums, windowSumsOf } from './window-sums.ts'

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

/** A change to judge. */
export interface WantedChange {
  history: VoteHistory
  life: Life
}

/** Judges these changes of one prompt, in this order. */
export function judgeChanges(
  stores: JudgeStores,
  history: VoteHistory,
  lives: readonly Life[],
  wander?: Readonly<Wander>,
): Promise<JudgedChange[]> {
  return judgeAll(
    stores,
    lives.map((life) => ({ history, life })),
    wander,
  )
}

/** Judges changes of many prompts of one organisation. The number of queries does not depend on how many there are. */
export async function judgeAll(
  stores: JudgeStores,
  wanted: readonly WantedChange[],
  wander: Readonly<Wander> = defaultWander,
): Promise<JudgedChange[]> {
  const windows = await windowsOf(stores, wanted)
  const chains = pastsOf(wanted)
  const pairs = wanted.map(({ history, life }) => {
    const earlier = earlierOf(history, life)
    return {
      after: windows.get(life) as WindowSums,
      before: earlier === undefined ? undefined : windows.get(earlier),
    }
  })
  const sides = wanted.flatMap(({ history, life }, i): Side[] => {
    const { before, after } = pairs[i] as (typeof pairs)[number]
    const earlier = earlierOf(history, life)
    if (before === undefined || earlier === undefined || !isComparable(before.tally, after.tally)) return []
    const sizeOf = (of: Life) =>
      (chains.get(history) as Past).sizes[history.placeOf.get(of.change.id) as number] as number
    return [
      { history, life: earlier, window: before, isAfter: false, blockSize: sizeOf(earlier) },
      { history, life, window: after, isAfter: true, blockSize: sizeOf(life) },
    ]
  })
  const sums = await sumsOfSides(stores.signals, sides)
  const evidence = new Map<Life, Evidence | null>()
  for (let i = 0; i < sides.length; i += 2) {
    const [before, after] = [sides[i] as Side, sides[i + 1] as Side]
    const { levels } = chains.get(before.history) as Past
    const past = levels[before.history.placeOf.get(before.life.change.id) as number] ?? null
    const blocks = cutBlocks([sums[i] as Sum[], sums[i + 1] as Sum[]], [before.blockSize, after.blockSize])
    evidence.set(after.life, evidenceOfChanges(blocks, 2, wander, (window) => window === 1, past)[1] ?? null)
  }
  return wanted.map(({ life }, i) => {
    const { before, after } = pairs[i] as (typeof pairs)[number]
    return judged(life, before, after, evidence.get(life) ?? null)
  })
}

/** The change that was live before. */
function earlierOf({ live }: VoteHistory, { earlier }: Life): Life | undefined {
  return earlier === null ? undefined : live.lives.get(earlier.id)
}

/** The votes on these changes and on those before them. */
async function windowsOf(stores: JudgeStores, wanted: readonly WantedChange[]): Promise<Map<Life, WindowSums>> {
  const all = new Map<Life, WantedChange>()
  for (const each of wanted) {
    const earlier = earlierOf(each.history, each.life)
    all.set(each.life, each)
    if (earlier !== undefined) all.set(earlier, { history: each.history, life: earlier })
  }
  const sums = await windowSumsOf(stores, [...all.values()])
  return new Map([...all.keys()].map((life, i) => [life, sums[i] as WindowSums]))
}

/** How the votes of a prompt wandered before each of its windows. */
interface Past {
  sizes: number[]
  levels: (Levels | null)[]
}

function pastsOf(wanted: readonly WantedChange[]): Map<VoteHistory, Past> {
  const pasts = new Map<VoteHistory, Past>()
  for (const [history, changes] of Map.groupBy(wanted, (each) => each.history)) {
    const { blocks, windows, sizes } = chainOf(history)
    const before = new Set(changes.map(({ life }) => history.placeOf.get(life.earlier?.id ?? -1)))
    pasts.set(history, { sizes, levels: levelsBefore(blocks, windows, (window) => before.has(window)) })
  }
  return pasts
}

// Fewer votes on a side make no block.
const minVotes = 20

function isComparable(before: Tally, after: Tally): boolean {
  return before.positive + before.negative >= minVotes && after.positive + after.negative >= minVotes
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
