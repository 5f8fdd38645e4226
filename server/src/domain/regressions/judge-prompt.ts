import type { HistoryStore } from '../history/history.ts'
import { type JudgedChange, type JudgeStores, judgeChanges } from '../impact/judged-changes.ts'
import { type LivePeriod, liveFrom } from '../impact/live/live-window.ts'
import { now as atNow } from '../impact/live/moment.ts'
import type { Drift } from '../impact/model/drift.ts'
import type { DriftStore } from '../impact/model/drift-store.ts'
import { likelihoodOfDrift } from '../impact/model/evidence.ts'
import type { LearnedDrift } from '../impact/model/learned-drift.ts'
import type { Reason } from '../impact/model/unexplained.ts'
import { rateOf } from '../impact/model/verdict.ts'
import { type RankingStore, rankingOf } from '../impact/ranking.ts'
import { type VoteHistory, type VoteStores, voteHistoryOf } from '../impact/reading/vote-history.ts'
import type { Prompt } from '../prompt.ts'
import type { ProposalStore } from '../proposals/proposal.ts'
import { cutVotes, findShifts, type JudgedCauses, type MovingChange } from '../shifts/find-shifts.ts'
import type { ShiftStore, StoredShift } from '../shifts/shift.ts'
import { storeShifts } from '../shifts/store-shifts.ts'
import { countOf } from '../signals/tally.ts'
import type { Instant } from '../time.ts'
import type { Regression, RegressionFigures, RegressionStore } from './regression.ts'
import { findRepair } from './repair.ts'
import { changeIsGone, findWithdrawal } from './withdrawal.ts'

export interface JudgingStores extends VoteStores, JudgeStores {
  signals: JudgeStores['signals']
  deployments: JudgeStores['deployments']
  history: Pick<HistoryStore, 'landedChanges' | 'entries'>
  drift: DriftStore
  rankings: RankingStore
  shifts: ShiftStore
  regressions: RegressionStore
  proposals: Pick<ProposalStore, 'pullsOf'>
}

interface JudgedPrompt {
  /** Other prompts, by ID, that moved at the same time as this one: the causes of their shifts may differ now. */
  affected: number[]
}

// Older changes are judged only while a shift or an open regression names them.
const maxChanges = 20
// With fewer blocks, a prompt tells nothing about drift.
const minBlocks = 5

/**
 * Judges a prompt from all its votes, and stores what was found: how its votes drift, its shifts, its
 * regressions, and how it stands. Judging a
 * prompt again, or in two processes at once, changes nothing unless votes or changes came in between.
 */
export async function judgePrompt(
  stores: JudgingStores,
  learned: LearnedDrift,
  prompt: Prompt,
  now: Instant,
): Promise<JudgedPrompt> {
  const [history, drift, regressions, before] = await Promise.all([
    voteHistoryOf(stores, prompt, atNow(now)),
    learned.of(prompt),
    stores.regressions.ofPrompt(prompt),
    stores.shifts.ofPrompt(prompt),
  ])
  const known = await followEntries(stores.regressions, history, regressions)
  const wanted = changesToJudge(history, known, before)
  // By the votes on this prompt alone: whether others moved too is found out with its shifts.
  const alone = await judgeChanges({ ...stores, shifts: noShared }, history, wanted, drift)
  const votes = await cutVotes(stores.signals, history)
  if (votes.blocks.count >= minBlocks) {
    await stores.drift.save(prompt, likelihoodOfDrift(votes.blocks, votes.windows), now)
  }
  const found = findShifts(history, votes, causesOf(alone, known), drift)
  const { shifts, affected } = await storeShifts(stores.shifts, prompt, found, before, now)
  const isShared = shifts.some(({ sharedWith }) => sharedWith !== null)
  const judged = isShared ? await judgeChanges(stores, history, wanted, drift) : alone
  await storeRegressions(stores, history, known, judged, drift, now)
  await stores.rankings.save(prompt, rankingOf(history, judged, now), now)
  return { affected }
}

const noShared: JudgeStores['shifts'] = { shared: async () => new Map() }

/** The newest changes, and older ones that a shift or an open regression names. */
function changesToJudge({ periods }: VoteHistory, regressions: Regression[], shifts: StoredShift[]): LivePeriod[] {
  const named = new Set([
    ...regressions.filter(({ state }) => state === 'open').map(({ entryId }) => entryId),
    ...shifts.map(({ entryId }) => entryId),
  ])
  const newest = Math.max(0, periods.length - maxChanges)
  return periods.filter((period, i) => period.earlier !== null && (i >= newest || named.has(period.change.id)))
}

/** Which changes moved the rate, also those of regressions that stay open while the evidence is too weak for a verdict. */
function causesOf(judged: JudgedChange[], regressions: Regression[]): JudgedCauses {
  const open = new Map(regressions.filter(({ state }) => state === 'open').map((each) => [each.entryId, each]))
  const moving: MovingChange[] = []
  const acquitted = new Set<number>()
  for (const change of judged) {
    const { period, verdict, reason, before, after } = change
    const [rateBefore, rateAfter] = [rateOf(before), rateOf(after)]
    const regression = open.get(period.change.id)
    if ((verdict === 'better' || verdict === 'worse') && rateBefore !== null && rateAfter !== null) {
      moving.push({ period, rateBefore, rateAfter })
    } else if (regression !== undefined && findWithdrawal(change, regression) === null) {
      moving.push({ period, rateBefore: regression.rateBefore, rateAfter: regression.rateAfter })
    } else if (isElsewhere(reason)) acquitted.add(period.change.id)
  }
  return { moving, acquitted }
}

/** Whether something else than the change moved the rate. */
function isElsewhere(reason: Reason | null): boolean {
  if (reason?.kind === 'model') return !reason.together
  return reason?.kind === 'elsewhere' || reason?.kind === 'audience'
}

async function storeRegressions(
  stores: JudgingStores,
  history: VoteHistory,
  known: Regression[],
  judged: JudgedChange[],
  drift: Readonly<Drift>,
  now: Instant,
): Promise<void> {
  const { prompt } = history
  const byEntry = new Map(known.map((regression) => [regression.entryId, regression]))
  for (const change of judged) {
    const figures = change.verdict === 'worse' ? figuresOf(change) : null
    const regression = byEntry.get(change.period.change.id)
    if (figures !== null) await record(stores.regressions, prompt, change, regression, figures, now)
    const isOpenNow = regression === undefined ? figures !== null : regression.state === 'open'
    if (isOpenNow) await close(stores, history, change, regression, figures, drift, now)
  }
  const isJudged = new Set(judged.map(({ period }) => period.change.id))
  for (const { id, entryId, state } of known) {
    if (state !== 'open' || isJudged.has(entryId)) continue
    await stores.regressions.withdraw(prompt, id, { at: now, explanation: changeIsGone })
  }
}

/** Closes an open regression that is repaired, or whose verdict is taken back. */
async function close(
  stores: JudgingStores,
  history: VoteHistory,
  change: JudgedChange,
  regression: Regression | undefined,
  figures: RegressionFigures | null,
  drift: Readonly<Drift>,
  now: Instant,
): Promise<void> {
  const { prompt } = history
  const repair = await findRepair(stores, history, change, figures ?? (regression as Regression), drift)
  if (repair !== null) {
    const { id } = regression ?? (await find(stores.regressions, prompt, change))
    return stores.regressions.repair(prompt, id, { at: now, ...repair })
  }
  const explanation = regression === undefined ? null : findWithdrawal(change, regression)
  if (regression === undefined || explanation === null) return
  await stores.regressions.withdraw(prompt, regression.id, { at: now, explanation })
}

/** Opens a regression, or keeps its figures up to date. */
async function record(
  store: RegressionStore,
  prompt: Prompt,
  { period }: JudgedChange,
  known: Regression | undefined,
  figures: RegressionFigures,
  now: Instant,
): Promise<void> {
  if (known === undefined) return store.open(prompt, period.change, figures, now)
  if (known.state === 'open' && !isSame(known, figures)) return store.update(prompt, known.id, figures)
  // The rate came back by itself, and has fallen again.
  const cameBack = known.state === 'repaired' && known.repairedBy === 'rate' && known.repairedEntryId === null
  if (cameBack || known.state === 'withdrawn') return store.reopen(prompt, known.id, figures, now)
}

async function find(store: RegressionStore, prompt: Prompt, { period }: JudgedChange): Promise<Regression> {
  const found = (await store.ofPrompt(prompt)).find(({ entryId }) => entryId === period.change.id)
  if (found === undefined) throw new Error(`The regression of entry ${period.change.id} was not stored`)
  return found
}

/** A sync may replace an entry, for example when a commit turns out to be a merge. The regression follows the commit. */
async function followEntries(
  store: RegressionStore,
  { prompt, periods }: VoteHistory,
  known: Regression[],
): Promise<Regression[]> {
  const ids = new Set(periods.map(({ change }) => change.id))
  const taken = new Set(known.map(({ entryId }) => entryId))
  return Promise.all(
    known.map(async (regression) => {
      if (ids.has(regression.entryId)) return regression
      const now = periods.find(({ change }) => change.commitSha === regression.commitSha && !taken.has(change.id))
      if (now === undefined) return regression
      await store.moveTo(prompt, regression.id, now.change.id)
      return { ...regression, entryId: now.change.id }
    }),
  )
}

function figuresOf({
  period,
  before,
  after,
  difference,
  explanation,
  evidence,
}: JudgedChange): RegressionFigures | null {
  const [rateBefore, rateAfter] = [rateOf(before), rateOf(after)]
  if (rateBefore === null || rateAfter === null || difference === null) return null
  const signals = { signalsBefore: countOf(before), signalsAfter: countOf(after) }
  return { rateBefore, rateAfter, ...difference, explanation, evidence, ...signals, liveFrom: liveFrom(period) }
}

function isSame(a: RegressionFigures, b: RegressionFigures): boolean {
  const texts = [a, b].map(({ rateBefore, rateAfter, difference, interval, explanation, evidence, ...others }) =>
    JSON.stringify([
      ...[rateBefore, rateAfter, difference, ...interval].map((rate) => Math.round(rate * 1e6)),
      explanation,
      evidence === null ? null : Math.round(evidence * 1e3),
      others.signalsBefore,
      others.signalsAfter,
      others.liveFrom,
    ]),
  )
  return texts[0] === texts[1]
}
