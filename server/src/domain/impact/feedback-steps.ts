import type { DeploymentStore } from '../deployments/deployment.ts'
import type { HistoryStore } from '../history/history.ts'
import type { Prompt } from '../prompt.ts'
import { type Interval, intervalLength, intervalStarts, type Span } from '../signals/interval.ts'
import type { IntervalTally, SignalStore } from '../signals/signal.ts'
import { emptyTally, type Tally } from '../signals/tally.ts'
import { dayStart, hour, hourStart, type Instant } from '../time.ts'
import { derivedFrom } from './cache.ts'
import { type LivePeriods, livePeriodsOf } from './live/live-periods.ts'
import { liveFrom } from './live/live-window.ts'
import { now as atNow } from './live/moment.ts'
import { lineOf } from './reading/vote-history.ts'

/** The signals of an interval, or of the part of it between two changes. */
interface FeedbackStep extends Span, Tally {
  /** How many changes went live in it. */
  changes: number
  /** How many versions took turns in it. Of versions that were live at the same time, the one with the largest share counts. */
  versions: number
  /** The history entry of the version that was live; null unless there was exactly one. */
  entryId: number | null
}

export interface FeedbackSteps {
  steps: FeedbackStep[]
  /** False if there are too many changes to split the intervals at. */
  isSplit: boolean
}

interface FeedbackStores {
  history: Pick<HistoryStore, 'landedChanges'>
  deployments: Pick<DeploymentStore, 'line' | 'promptLine' | 'places'>
  signals: Pick<SignalStore, 'tallyByInterval' | 'tallies'>
}

/** A time in which one version was live with the largest share. */
interface Turn {
  id: number
  from: Instant
  until: Instant
}

// Each costs up to two sums. More could not be told apart in a chart.
const maxSplits = 500

/**
 * The signals of every interval that the span overlaps, with the changes that went live. The first and the last interval are cut
 * to the hours of the span, so that it can be shorter than an interval. All are split at the hours of changes: sums are by the
 * hour, so the hour in which a version replaced another one is a step of its own.
 */
export async function feedbackStepsOf(
  stores: FeedbackStores,
  prompt: Prompt,
  span: Span,
  interval: Interval,
  now: Instant,
): Promise<FeedbackSteps> {
  const starts = intervalStarts(interval, span)
  const whole = { from: starts[0] as Instant, until: (starts.at(-1) as Instant) + intervalLength(interval) }
  const range = { from: hourStart(span.from), until: hourStart(span.until + hour - 1) }
  const [segments, landed, tallies] = await Promise.all([
    lineOf(stores, prompt),
    stores.history.landedChanges(prompt),
    stores.signals.tallyByInterval(prompt, whole, interval),
  ])
  const periods = livePeriodsOf(landed, segments, atNow(now))
  const turns = derivedFrom(periods, turnsOf)
  const splits = splitsIn(turns, range)
  const isSplit = splits.length <= maxSplits
  const edges = [...new Set([range.from, ...starts.slice(1), ...(isSplit ? splits : [])])].sort((a, b) => a - b)
  const spans = edges.map((from, i) => ({ from, until: edges[i + 1] ?? range.until }))
  const ofInterval = new Map<Instant, Tally>(tallies.map((tally) => [tally.start, tally]))
  const isPart = ({ from, until }: Span) => until - from !== intervalLength(interval)
  const parts = spans.filter(isPart)
  const partTallies = await stores.signals.tallies(
    prompt.organisationId,
    parts.map((part) => ({ promptId: prompt.id, ...part })),
  )
  const ofPart = new Map(parts.map(({ from }, i) => [from, partTallies[i]]))
  const changesIn = counter(periods.periods.map(liveFrom))
  const liveIn = liveFinder(turns)
  return {
    steps: spans.map((each) => {
      const { positive, negative } = (isPart(each) ? ofPart : ofInterval).get(each.from) ?? emptyTally
      return { ...each, positive, negative, changes: changesIn(each), ...liveIn(each) }
    }),
    isSplit,
  }
}

/** In order. They do not overlap. */
function turnsOf({ periods }: LivePeriods): Turn[] {
  return periods
    .flatMap(({ change: { id }, credits }) =>
      credits.map(({ from, until }) => ({ id, from, until: until ?? Number.POSITIVE_INFINITY })),
    )
    .filter(({ from, until }) => from < until)
    .sort((a, b) => a.from - b.from)
}

/** The full hours at which the span has to be split so that each part, except the hours of a change, has one version. */
function splitsIn(turns: Turn[], { from, until }: Span): Instant[] {
  const splits = new Set<Instant>()
  for (const [i, turn] of turns.entries()) {
    if (turn.until <= from || turn.from >= until) continue
    const [last, next] = [turns[i - 1], turns[i + 1]]
    // A canary that grows continues the turn of its version.
    if (!(last?.id === turn.id && last.until === turn.from)) splitAt(turn.from)
    if (next?.from !== turn.until) splitAt(turn.until)
  }
  return [...splits]

  function splitAt(at: Instant): void {
    if (!(at > from && at < until)) return
    const start = hourStart(at)
    if (start > from) splits.add(start)
    if (start !== at && start + hour < until) splits.add(start + hour)
  }
}

/** Counts the instants, which are in order, in spans that are in order. */
function counter(instants: Instant[]): (span: Span) => number {
  let next = 0
  return ({ from, until }) => {
    while (next < instants.length && (instants[next] as Instant) < from) next++
    const first = next
    while (next < instants.length && (instants[next] as Instant) < until) next++
    return next - first
  }
}

/** Finds what was live in spans that are in order. */
function liveFinder(turns: Turn[]): (span: Span) => Pick<FeedbackStep, 'versions' | 'entryId'> {
  let next = 0
  return ({ from, until }) => {
    while (next < turns.length && (turns[next] as Turn).until <= from) next++
    const ids = new Set<number>()
    for (let i = next; i < turns.length && (turns[i] as Turn).from < until; i++) ids.add((turns[i] as Turn).id)
    const [only] = ids
    return { versions: ids.size, entryId: ids.size === 1 ? (only as number) : null }
  }
}

// As many as a chart can show side by side.
const maxSteps = 200
/** An interval with fewer signals says little: its 95% confidence range is more than 30 percentage points wide. */
const minSignals = 30
// In a span of a few weeks, one step a week would show nothing of its course, so days with fewer signals are better.
const minWeeks = 8
const minSignalsOfDay = 10

/**
 * The shortest interval for a chart of the span from its first signal on: at most `maxSteps`, with at least `minSignals` in the
 * average interval that has any, or `minSignalsOfDay` by the day if the span has fewer than `minWeeks`. A week if no interval has
 * enough.
 */
export async function chooseInterval(
  { signals }: { signals: Pick<SignalStore, 'tallyByInterval'> },
  prompt: Prompt,
  { from, until }: Span,
  now: Instant,
): Promise<Interval> {
  const days = await signals.tallyByInterval(prompt, { from: dayStart(from), until }, 'day')
  const first = Math.max(from, days[0]?.start ?? from)
  const steps = (interval: Interval) => (Math.min(until, Math.max(now, first)) - first) / intervalLength(interval)
  const fits = (interval: Interval) => steps(interval) <= maxSteps
  if (fits('hour') && hasEnough(await signals.tallyByInterval(prompt, { from: dayStart(first), until }, 'hour')))
    return 'hour'
  return fits('day') && hasEnough(days, steps('week') < minWeeks ? minSignalsOfDay : minSignals) ? 'day' : 'week'
}

function hasEnough(tallies: IntervalTally[], min = minSignals): boolean {
  const total = tallies.reduce((sum, { positive, negative }) => sum + positive + negative, 0)
  return total > 0 && total / tallies.length >= min
}
