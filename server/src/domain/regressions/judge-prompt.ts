import type { HistoryStore } from '../history/history.ts'
import { likelihoodOfWander } from '../impact/evidence.ts'
import { type JudgedChange, type JudgeStores, judgeChanges } from '../impact/judged-changes.ts'
import type { LearnedWander } from '../impact/learned-wander.ts'
import { now as atNow } from '../impact/moment.ts'
import { rateOf } from '../impact/verdict.ts'
import { type VoteHistory, type VoteStores, voteHistoryOf } from '../impact/vote-history.ts'
import type { Wander } from '../impact/wander.ts'
import type { WanderStore } from '../impact/wander-store.ts'
import type { Prompt } from '../prompt.ts'
import { type CutVotes, cutVotes, explainShifts, findShifts } from '../shifts/find-shifts.ts'
import type { ShiftStore, StoredShift } from '../shifts/shift.ts'
import type { Instant } from '../time.ts'
import type { Regression, RegressionFigures, RegressionStore } from './regression.ts'
import { findRepair } from './repair.ts'

export interface JudgingStores extends VoteStores, JudgeStores {
  signals: JudgeStores['signals']
  history: Pick<HistoryStore, 'landedChanges' | 'entries'>
  wander: WanderStore
  shifts: ShiftStore
  regressions: RegressionStore
}

export interface JudgedPrompt {
  /** Other prompts, by ID, that moved at the same time as this one: the causes of their shifts may differ now. */
  affected: number[]
}

// Older changes are judged only while a regression of theirs is open.
const maxChanges = 20
// With fewer blocks, a prompt tells nothing about wandering.
const minBlocks = 5

/**
 * Judges a prompt from all its votes, and stores what was found: how its votes wander, its shifts, and its regressions. Judging a
 * prompt again, or in two processes at once, changes nothing unless votes or changes came in between.
 */
export async function judgePrompt(
  stores: JudgingStores,
  learned: LearnedWander,
  prompt: Prompt,
  now: Instant,
): Promise<JudgedPrompt> {
  const [history, wander] = await Promise.all([voteHistoryOf(stores, prompt, atNow(now)), learned.of(prompt)])
  const votes = await cutVotes(stores.signals, history)
  if (votes.blocks.count >= minBlocks) {
    await stores.wander.save(prompt, likelihoodOfWander(votes.blocks, votes.windows), now)
  }
  const affected = await storeShifts(stores, history, votes, wander)
  await storeRegressions(stores, history, wander, now)
  return { affected }
}

async function storeShifts(
  stores: JudgingStores,
  { prompt, lives }: VoteHistory,
  votes: CutVotes,
  wander: Readonly<Wander>,
): Promise<number[]> {
  const found = findShifts(votes, wander)
  const before = await stores.shifts.ofPrompt(prompt)
  if (found.length === 0 && before.length === 0) return []
  const [moved, judgedPrompts] = await Promise.all([
    stores.shifts.countOthers(
      prompt,
      found.map(({ between }) => between),
    ),
    stores.wander.count(prompt.organisationId),
  ])
  const shifts = explainShifts(found, lives, moved, judgedPrompts - 1)
  if (JSON.stringify(shifts.map(rounded)) === JSON.stringify(before.map(rounded))) return []
  await stores.shifts.replace(prompt, shifts)
  const known = new Set(before.map(({ between }) => String(between)))
  const news = shifts.map(({ between }, i) => ({ between, count: moved[i] as number }))
  return stores.shifts.toExplainAgain(
    prompt,
    news.filter(({ between, count }) => count > 1 && !known.has(String(between))),
  )
}

// Rates are stored in millionths.
function rounded(shift: StoredShift): StoredShift {
  const inMillionths = (rate: number) => Math.round(rate * 1e6)
  return { ...shift, rateBefore: inMillionths(shift.rateBefore), rateAfter: inMillionths(shift.rateAfter) }
}

async function storeRegressions(
  stores: JudgingStores,
  history: VoteHistory,
  wander: Readonly<Wander>,
  now: Instant,
): Promise<void> {
  const { prompt, lives } = history
  const known = await followEntries(stores.regressions, history, await stores.regressions.ofPrompt(prompt))
  const isOpen = new Set(known.filter(({ state }) => state === 'open').map(({ entryId }) => entryId))
  const newest = Math.max(0, lives.length - maxChanges)
  const wanted = lives.filter((life, i) => life.earlier !== null && (i >= newest || isOpen.has(life.change.id)))
  const judged = await judgeChanges(stores, history, wanted, wander)
  const byEntry = new Map(known.map((regression) => [regression.entryId, regression]))
  for (const change of judged) {
    const figures = change.verdict === 'worse' ? figuresOf(change) : null
    const regression = byEntry.get(change.life.change.id)
    if (figures !== null) await record(stores.regressions, prompt, change, regression, figures, now)
    const isOpenNow = regression === undefined ? figures !== null : regression.state === 'open'
    if (!isOpenNow) continue
    const repair = await findRepair(stores, history, change, figures ?? (regression as Regression), wander)
    if (repair === null) continue
    const { id } = regression ?? (await find(stores.regressions, prompt, change))
    await stores.regressions.repair(prompt, id, { at: now, ...repair })
  }
}

/** Opens a regression, or keeps its figures up to date. */
async function record(
  store: RegressionStore,
  prompt: Prompt,
  { life }: JudgedChange,
  known: Regression | undefined,
  figures: RegressionFigures,
  now: Instant,
): Promise<void> {
  if (known === undefined) return store.open(prompt, life.change, figures, now)
  if (known.state === 'open' && !isSame(known, figures)) return store.update(prompt, known.id, figures)
  // The rate came back by itself, and has fallen again.
  const cameBack = known.state === 'repaired' && known.repairedBy === 'rate' && known.repairedEntryId === null
  if (cameBack || known.state === 'withdrawn') return store.reopen(prompt, known.id, figures, now)
}

async function find(store: RegressionStore, prompt: Prompt, { life }: JudgedChange): Promise<Regression> {
  const found = (await store.ofPrompt(prompt)).find(({ entryId }) => entryId === life.change.id)
  if (found === undefined) throw new Error(`The regression of entry ${life.change.id} was not stored`)
  return found
}

/** A sync may replace an entry, for example when a commit turns out to be a merge. The regression follows the commit. */
async function followEntries(
  store: RegressionStore,
  { prompt, lives }: VoteHistory,
  known: Regression[],
): Promise<Regression[]> {
  const ids = new Set(lives.map(({ change }) => change.id))
  const taken = new Set(known.map(({ entryId }) => entryId))
  return Promise.all(
    known.map(async (regression) => {
      if (ids.has(regression.entryId)) return regression
      const now = lives.find(({ change }) => change.commitSha === regression.commitSha && !taken.has(change.id))
      if (now === undefined) return regression
      await store.moveTo(prompt, regression.id, now.change.id)
      return { ...regression, entryId: now.change.id }
    }),
  )
}

function figuresOf({ before, after, difference, explanation, evidence }: JudgedChange): RegressionFigures | null {
  const [rateBefore, rateAfter] = [rateOf(before), rateOf(after)]
  if (rateBefore === null || rateAfter === null || difference === null) return null
  return { rateBefore, rateAfter, ...difference, explanation, evidence }
}

function isSame(a: RegressionFigures, b: RegressionFigures): boolean {
  const texts = [a, b].map(({ rateBefore, rateAfter, difference, interval, explanation, evidence }) =>
    JSON.stringify([
      ...[rateBefore, rateAfter, difference, ...interval].map((rate) => Math.round(rate * 1e6)),
      explanation,
      evidence === null ? null : Math.round(evidence * 1e3),
    ]),
  )
  return texts[0] === texts[1]
}
