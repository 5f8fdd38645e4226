import type { DeploymentStore } from '../deployments/deployment.ts'
import { modelChangesOfDeployments } from '../deployments/model-line.ts'
import type { SharedShift, ShiftStore } from '../shifts/shift.ts'
import { countOf, emptyTally, type Tally } from '../signals/tally.ts'
import type { VoteStore } from '../signals/votes.ts'
import { joinModelChanges, type ModelChange, modelChangesOf } from '../telemetry/model-changes.ts'
import type { TelemetryStore } from '../telemetry/telemetry.ts'
import { createTurns, hourStart, nextTurn } from '../time.ts'
import { earlierPeriod, type LivePeriod, liveFrom } from './live/live-window.ts'
import { type Drift, defaultDrift } from './model/drift.ts'
import type { Evidence } from './model/evidence.ts'
import { explain, firstVersion } from './model/explanation.ts'
import { type Findings, type Judgement, judge } from './model/judgement.ts'
import { type Past, pastOf } from './model/past.ts'
import { evidenceOf } from './model/remembered-evidence.ts'
import { type AudienceStores, audienceOf, type DifferingChange } from './reading/audience.ts'
import { type Side, withSingleVotes } from './reading/short-windows.ts'
import { endOfHours, type VoteHistory, type VoteStores, voteWindowOf } from './reading/vote-history.ts'
import {
  type AttributedBy,
  type Sums,
  type WantedWindow,
  type WindowSums,
  windowSumsOf,
} from './reading/window-sums.ts'
import { type ComparedWindow, countVoters, hasVoters } from './reading/window-voters.ts'

/** A change that went live, the votes on it and on the change before it, and what they say about it. */
export interface JudgedChange extends Judgement {
  period: LivePeriod
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
  segments: AudienceStores['segments']
  shifts: Pick<ShiftStore, 'shared'>
  telemetry: Pick<TelemetryStore, 'modelHours'>
  deployments: VoteStores['deployments'] & Pick<DeploymentStore, 'modelEvents'>
}

/** A change to judge. */
export interface WantedChange {
  history: VoteHistory
  period: LivePeriod
  drift: Readonly<Drift>
}

/** Judges these changes of one prompt, in this order. */
export function judgeChanges(
  stores: JudgeStores,
  history: VoteHistory,
  periods: readonly LivePeriod[],
  drift: Readonly<Drift> = defaultDrift,
): Promise<JudgedChange[]> {
  return judgeAll(
    stores,
    periods.map((period) => ({ history, period, drift })),
  )
}

/**
 * Judges changes of many prompts of one organisation. `maxVotes` bounds how many single votes are read for voters and for segments
 * each, if that is fewer than usual: what has been read once is remembered.
 */
export async function judgeAll(
  stores: JudgeStores,
  wanted: readonly WantedChange[],
  maxVotes?: number,
): Promise<JudgedChange[]> {
  // SQLite reads without a pause. Others get their turn between reading and judging, so that neither blocks them for long.
  await nextTurn()
  const [mayHaveVoters, windows] = await Promise.all([hasVoters(stores.signals, wanted), windowsOf(stores, wanted)])
  await nextTurn()
  const pairs = wanted.map(({ history, period, drift }): Pair => {
    const earlier = earlierPeriod(history.live, period)
    const before = earlier === undefined ? undefined : windows.get(earlier)
    return { history, period, drift, earlier, before, after: windows.get(period) as WindowSums }
  })
  const compared = mayHaveVoters ? comparedWindows(pairs) : []
  const designEffect = await countVoters(stores.signals, compared, maxVotes)
  const takeTurns = createTurns()
  const pasts = new Map<VoteHistory, Past>()
  for (const [history, ofPrompt] of Map.groupBy(pairs, (pair) => pair.history)) {
    const earlier = ofPrompt.flatMap((pair) => pair.earlier ?? [])
    pasts.set(history, pastOf(history, earlier, designEffect.get(history)))
    await takeTurns()
  }
  const pastOfPair = ({ history }: Pair) => pasts.get(history) as Past
  const comparable = pairs.filter(isComparable)
  const sums = await withSingleVotes(
    stores.signals,
    comparable.flatMap((pair): Side[] => {
      const { history, earlier, before, period, after } = pair
      const sideOf = (of: LivePeriod, votes: WindowSums, isAfter: boolean): Side => {
        const blockSize = pastOfPair(pair).sizeOf(of)
        return { prompt: history.prompt, window: voteWindowOf(history, of), votes, isAfter, blockSize }
      }
      return [sideOf(earlier, before, false), sideOf(period, after, true)]
    }),
  )
  const evidence = new Map<Pair, Evidence | null>()
  for (const [i, pair] of comparable.entries()) {
    const [before, after] = [sums[2 * i] as Sums, sums[2 * i + 1] as Sums]
    const areWholeHours = isOneCredit(pair) && before === pair.before && after === pair.after
    evidence.set(pair, evidenceOf({ ...pair, past: pastOfPair(pair), before, after, areWholeHours }))
    await takeTurns()
  }
  const findings = pairs.map((pair): Findings => {
    const { before, after } = pair
    return {
      before: before?.tally ?? emptyTally,
      after: after.tally,
      evidence: evidence.get(pair) ?? null,
      designEffect: { before: before?.designEffect ?? 1, after: after.designEffect ?? 1 },
    }
  })
  const judgements = await judgeDifferences(stores, pairs, findings, maxVotes)
  return pairs.map((pair, i) => judged(pair, judgements[i] as Judgement))
}

/**
 * Looks for other explanations of a difference: its audience, and other prompts that moved at the same time. Reading segments
 * takes long, so all of it is only read for a difference that has to be explained.
 */
async function judgeDifferences(
  stores: JudgeStores,
  pairs: readonly Pair[],
  findings: readonly Findings[],
  maxVotes: number | undefined,
): Promise<Judgement[]> {
  const judgements: Judgement[] = []
  const takeTurns = createTurns()
  for (const finding of findings) {
    judgements.push(judge(finding))
    await takeTurns()
  }
  const differing = pairs.flatMap(({ history, period, drift, earlier }, i): (DifferingChange & { i: number })[] => {
    const { verdict } = judgements[i] as Judgement
    if (earlier === undefined || (verdict !== 'better' && verdict !== 'worse' && verdict !== 'unexplained')) return []
    const { before, after } = findings[i] as Findings
    const votes = countOf(before) + countOf(after)
    return [{ i, history, before: earlier, after: period, votes, drift }]
  })
  if (differing.length === 0) return judgements
  const [audiences, shared, models] = await Promise.all([
    audienceOf(stores, differing, maxVotes),
    sharedShifts(stores, differing),
    modelChanges(stores, differing),
  ])
  for (const [at, { i, history, before, after }] of differing.entries()) {
    const segments = audiences[at] ?? []
    const sharedWith = sharedAt(shared.get(history.prompt.id) ?? [], history, after)
    // A list of each key: votes that name the model twice tell of the same change.
    const ofVotes = segments.map(({ models = [] }) => models)
    const known = joinModelChanges(...(models.get(history) ?? []), ...ofVotes)
    const ofModel = known.filter(({ at }) => at >= liveFrom(before))
    if (segments.length > 0 || sharedWith > 0 || ofModel.length > 0) {
      const circumstances = { segments, sharedWith, models: ofModel, liveFrom: liveFrom(after) }
      judgements[i] = judge({ ...(findings[i] as Findings), ...circumstances })
    }
  }
  return judgements
}

function sharedShifts(
  { shifts }: Pick<JudgeStores, 'shifts'>,
  differing: readonly DifferingChange[],
): Promise<Map<number, SharedShift[]>> {
  const prompts = [...new Set(differing.map(({ history }) => history.prompt))]
  return shifts.shared(
    prompts[0]?.organisationId ?? 0,
    prompts.map(({ id }) => id),
  )
}

/** When the models of these prompts changed, from spans and from deployments. */
async function modelChanges(
  stores: ModelStores,
  differing: readonly DifferingChange[],
): Promise<Map<VoteHistory, ModelChange[][]>> {
  const histories = [...new Set(differing.map(({ history }) => history))]
  return new Map(
    await Promise.all(
      histories.map(async (history) => [history, await modelChangesOfPrompt(stores, history)] as const),
    ),
  )
}

type ModelStores = Pick<JudgeStores, 'telemetry' | 'deployments'>

/** When the model of a prompt changed: from spans, and from deployments. */
export async function modelChangesOfPrompt(
  { telemetry, deployments }: ModelStores,
  { prompt, moment }: Pick<VoteHistory, 'prompt' | 'moment'>,
): Promise<ModelChange[][]> {
  const until = endOfHours(moment)
  const [hours, events] = await Promise.all([
    telemetry.modelHours(prompt, until),
    deployments.modelEvents(prompt, moment.isPast ? moment.at + 1 : until),
  ])
  return [modelChangesOf(hours), modelChangesOfDeployments(events)]
}

/** How many other prompts moved when the change went live; 0 if only this one did. */
function sharedAt(shifts: readonly SharedShift[], { moment }: VoteHistory, period: LivePeriod): number {
  const at = liveFrom(period)
  const shift = shifts.find(
    ({ between: [from, until] }) => at >= from && hourStart(at) <= until && !(moment.isPast && until > moment.at),
  )
  return shift?.sharedWith ?? 0
}

/** Of a change that another one is compared with, the last votes count; of others, the first. */
function comparedWindows(pairs: readonly Pair[]): ComparedWindow[] {
  const compared = new Map<LivePeriod, ComparedWindow>()
  for (const { history, period, earlier, before, after } of pairs) {
    if (!compared.has(period)) compared.set(period, { history, period, window: after, order: 'oldest' })
    if (earlier !== undefined && before !== undefined) {
      compared.set(earlier, { history, period: earlier, window: before, order: 'newest' })
    }
  }
  return [...compared.values()]
}

/** A change with the votes on it and on the one before it. */
interface Pair extends WantedChange {
  earlier: LivePeriod | undefined
  before: WindowSums | undefined
  after: WindowSums
}

// Fewer votes make no block.
const minVotes = 20

function isComparable(pair: Pair): pair is Pair & { earlier: LivePeriod; before: WindowSums } {
  const { before, after } = pair
  const isEnough = ({ tally }: WindowSums) => countOf(tally) >= minVotes
  return before !== undefined && isEnough(before) && isEnough(after)
}

/** Whether both windows are a single span of the prompt's votes, whatever version they name. */
function isOneCredit({ history, earlier, period }: Pair & { earlier: LivePeriod }): boolean {
  return !history.hasVersions && earlier.credits.length === 1 && period.credits.length === 1
}

/** The votes on these changes and on those before them. */
async function windowsOf(stores: JudgeStores, wanted: readonly WantedChange[]): Promise<Map<LivePeriod, WindowSums>> {
  const all = new Map<LivePeriod, WantedWindow>()
  for (const each of wanted) {
    const earlier = earlierPeriod(each.history.live, each.period)
    all.set(each.period, each)
    if (earlier !== undefined) all.set(earlier, { history: each.history, period: earlier })
  }
  const sums = await windowSumsOf(stores, [...all.values()])
  return new Map([...all.keys()].map((period, i) => [period, sums[i] as WindowSums]))
}

function judged({ period, before: earlier, after: window }: Pair, judgement: Judgement): JudgedChange {
  const before = earlier?.tally ?? emptyTally
  const after = window.tally
  const sum = (by: keyof AttributedBy) => (earlier?.attributedBy[by] ?? 0) + window.attributedBy[by]
  return {
    period,
    before,
    after,
    attributedBy: { version: sum('version'), deployment: sum('deployment'), time: sum('time') },
    unattributed: window.unattributed,
    ...judgement,
    explanation: period.earlier === null ? firstVersion : explain(judgement, before, after),
  }
}
