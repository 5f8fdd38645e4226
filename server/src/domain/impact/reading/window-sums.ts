import type { Span } from '../../signals/interval.ts'
import { emptyTally, type HourlySums, noSums, type Tally, totalOf } from '../../signals/tally.ts'
import { firstFrom } from '../../sorted.ts'
import { hour, hourStart, type Instant } from '../../time.ts'
import { derivedFrom } from '../cache.ts'
import type { Credit, LivePeriod } from '../live/live-window.ts'
import type { Sum } from '../model/blocks.ts'
import { endOfHours, type VoteHistory, type VoteStores } from './vote-history.ts'

/** How many signals count for a change by what: they name its version, or it was live by a deployment, or by its merge. */
export interface AttributedBy {
  version: number
  deployment: number
  time: number
}

/** Sums of a window, in the order of time. */
export interface Sums {
  /** Listed when they are asked for. */
  readonly sums: Sum[]
  /**
   * How many there are if each is one hour, and those that are parts of their hours. With the hours of the prompt, that says it all: the
   * verdicts on a page of prompts are mostly known without listing its 100,000 hours.
   */
  readonly hourly?: { size: number; ends: readonly Sum[] }
  /** How many votes are worth an independent one, if voters vote more than once. */
  designEffect?: number
}

/** The signals that count for one change. */
export interface WindowSums extends Sums {
  tally: Tally
  attributedBy: AttributedBy
  /** Of these, the signals without a version that came while another version was live too. */
  unattributed: number
}

export interface WantedWindow {
  history: VoteHistory
  period: LivePeriod
}

/** The signals that count for each change, exact to the millisecond within retention. All prompts share one organisation. */
export async function windowSumsOf(
  { signals }: Pick<VoteStores, 'signals'>,
  wanted: readonly WantedWindow[],
): Promise<WindowSums[]> {
  const [first] = wanted
  if (first === undefined) return []
  const { organisationId } = first.history.prompt
  const versions = wanted.flatMap(({ history, period }, at) => {
    const of = { at, promptId: history.prompt.id, ...rangeOf(history) }
    return history.hasVersions ? history.versionsOf(period).map((version) => ({ ...of, version })) : []
  })
  const credits = wanted.flatMap(({ history, period }, at) => {
    const isHourly = !history.hasVersions && history.startedHour.length === 0 && period.credits.length === 1
    return period.credits.map((credit) => ({
      at,
      history,
      credit,
      range: isHourly ? hoursOf(history.hours, credit) : null,
    }))
  })
  const mixed = [...Map.groupBy(credits, ({ history }) => history)].filter(([history]) => history.hasVersions)
  const [versionSums, mixedSums] = await Promise.all([
    signals.hourlySumsOfVersions(organisationId, versions),
    signals.versionedHourlySums(
      organisationId,
      mixed.map(([history, ofHistory]) => ({ promptId: history.prompt.id, ...creditedRange(history, ofHistory) })),
    ),
  ])
  const versioned = new Map(mixed.map(([history], i) => [history, mixedSums[i] ?? noSums]))
  const unversioned = credits.map(({ history, credit, range }) =>
    range === null ? unversionedHours(history, credit, versioned.get(history) ?? noSums) : endsOf(history.hours, range),
  )
  const started = await startedHours(signals, organisationId, credits, unversioned)

  const windows = wanted.map((): WindowSums & { sums: Sum[] } => {
    return { sums: [], tally: emptyTally, attributedBy: { version: 0, deployment: 0, time: 0 }, unattributed: 0 }
  })
  for (const [i, { at, history, credit, range }] of credits.entries()) {
    const ofPrompt = started.get(history.prompt.id)
    const startedAt = (instant: Instant) => ofPrompt?.get(instant) ?? emptyTally
    const sums = unversioned[i] as Sum[]
    cutEnds(credit, sums, startedAt)
    if (range === null) addCredit(windows[at] as WindowSums, credit, sums)
    else windows[at] = hourlyWindow(history.hours, credit, range, sums)
  }
  for (const [i, { at, version }] of versions.entries()) {
    const { history } = wanted[at] as WantedWindow
    const last = history.startedHour.find((tally) => tally.version === version)
    addVersion(
      windows[at] as WindowSums,
      versionSums[i] ?? noSums,
      last && { ...last, start: hourStart(history.moment.at) },
    )
  }
  for (const window of windows) {
    if (window.hourly !== undefined) continue
    if (!isInOrder(window.sums)) window.sums.sort((a, b) => a.start - b.start)
    window.tally = totalOf(window.sums)
  }
  return windows
}

/** The whole hours that the history covers. */
function rangeOf({ moment, hours }: VoteHistory): Span {
  const until = endOfHours(moment)
  return { from: hours.start[0] ?? until, until: Math.min(until, (hours.start.at(-1) ?? until) + hour) }
}

/**
 * From the first of these credits to the last. One range for all of them: a tenant decides how often deployments take turns, and each
 * turn is a credit of its own.
 */
function creditedRange(history: VoteHistory, credits: readonly { credit: Credit }[]): Span {
  const range = rangeOf(history)
  let [from, until] = [Number.POSITIVE_INFINITY, 0]
  for (const { credit } of credits) {
    from = Math.min(from, credit.from)
    until = Math.max(until, credit.until ?? range.until)
  }
  return { from: Math.max(from, range.from), until: Math.min(until, range.until) }
}

/** Most windows are one credit or one version, whose sums are in order already. */
function isInOrder(sums: readonly Sum[]): boolean {
  for (let i = 1; i < sums.length; i++) {
    if ((sums[i] as Sum).start < (sums[i - 1] as Sum).start) return false
  }
  return true
}

/** The whole hours in which the credit starts, lasts and ends, without the signals that name a version. */
function unversionedHours({ hours, startedHour }: VoteHistory, credit: Credit, versioned: HourlySums): Sum[] {
  const sums: Sum[] = []
  const end = credit.until ?? Number.POSITIVE_INFINITY
  let next = firstFrom(versioned.start, hourStart(credit.from))
  for (let i = firstFrom(hours.start, hourStart(credit.from)); i < hours.start.length; i++) {
    const start = hours.start[i] as number
    if (start >= end) break
    const sum = { start, positive: hours.positive[i] as number, negative: hours.negative[i] as number }
    while (next < versioned.start.length && (versioned.start[next] as number) < start) next++
    if (next < versioned.start.length && versioned.start[next] === start) {
      subtract(sum, { positive: versioned.positive[next] as number, negative: versioned.negative[next] as number })
    }
    if (startedHour.length > 0 && i === hours.start.length - 1) {
      subtract(sum, totalOf(startedHour.filter(({ version }) => version !== null)))
    }
    if (sum.positive + sum.negative > 0) sums.push(sum)
  }
  return sums
}

/** The signals of an hour before the instant at which a credit starts or ends in it, by prompt and instant. */
async function startedHours(
  signals: VoteStores['signals'],
  organisationId: number,
  credits: { history: VoteHistory; credit: Credit }[],
  unversioned: Sum[][],
): Promise<Map<number, Map<Instant, Tally>>> {
  const found = new Map<number, Map<Instant, Tally>>()
  const wanted: { promptId: number; at: Instant }[] = []
  for (const [i, { history, credit }] of credits.entries()) {
    const sums = unversioned[i] as Sum[]
    const promptId = history.prompt.id
    const ofPrompt = found.get(promptId) ?? new Map<Instant, Tally>()
    found.set(promptId, ofPrompt)
    for (const [at, sum] of [
      [credit.from, sums[0]],
      [credit.until, sums.at(-1)],
    ] as const) {
      if (at === null || at % hour === 0 || sum?.start !== hourStart(at) || ofPrompt.has(at)) continue
      ofPrompt.set(at, emptyTally)
      wanted.push({ promptId, at })
    }
  }
  const tallies = await signals.startedHours(organisationId, wanted)
  for (const [i, { promptId, at }] of wanted.entries()) found.get(promptId)?.set(at, tallies[i] ?? emptyTally)
  return found
}

/** The places of the hours of a credit, without those without votes at either end. */
type HourRange = readonly [first: number, end: number]

function hoursOf({ start, positive, negative }: HourlySums, credit: Credit): HourRange {
  const isEmptyAt = (i: number) => (positive[i] as number) + (negative[i] as number) <= 0
  let first = firstFrom(start, hourStart(credit.from))
  let end = credit.until === null ? start.length : firstFrom(start, credit.until)
  while (first < end && isEmptyAt(first)) first++
  while (first < end && isEmptyAt(end - 1)) end--
  return [first, end]
}

/** The first and the last hour, or the only one. */
function endsOf(hours: HourlySums, [first, end]: HourRange): Sum[] {
  if (first >= end) return []
  return end - first === 1 ? [sumAt(hours, first)] : [sumAt(hours, first), sumAt(hours, end - 1)]
}

function sumAt({ start, positive, negative }: HourlySums, i: number): Sum {
  return { start: start[i] as number, positive: positive[i] as number, negative: negative[i] as number }
}

/** A window of whole hours, except for its ends, which were cut. */
function hourlyWindow(hours: HourlySums, credit: Credit, [first, end]: HourRange, cut: readonly Sum[]): WindowSums {
  const kept = cut.filter((sum) => !isEmpty(sum))
  const inside = totalBetween(hours, credit, [first, end])
  const { positive, negative } = totalOf([...kept, inside])
  const list = (): Sum[] => {
    const between: Sum[] = []
    for (let i = first + 1; i < end - 1; i++) between.push(sumAt(hours, i))
    return [...cut.slice(0, 1), ...between, ...cut.slice(1)].filter((sum) => !isEmpty(sum))
  }
  let listed: Sum[] | null = null
  const votes = positive + negative
  const isDeployed = credit.source === 'deployment'
  return {
    get sums() {
      listed ??= list()
      return listed
    },
    hourly: { size: kept.length + inside.size, ends: kept },
    tally: { positive, negative },
    attributedBy: { version: 0, deployment: isDeployed ? votes : 0, time: isDeployed ? 0 : votes },
    unattributed: credit.shared ? votes : 0,
  }
}

interface Total extends Tally {
  /** How many hours have votes. */
  size: number
}

const newTotals = (): Map<Credit, Total> => new Map()
// A page of changes has 100 at most, each with the one before it.
const maxTotals = 200

/** The votes of the hours between the first and the last of the range, which is that of the credit. Those of the last credits are remembered. */
function totalBetween(hours: HourlySums, credit: Credit, [first, end]: HourRange): Total {
  const totals = derivedFrom(hours, newTotals)
  const known = totals.get(credit)
  if (known !== undefined) return known
  let [positive, negative, size] = [0, 0, 0]
  for (let i = first + 1; i < end - 1; i++) {
    const up = hours.positive[i] as number
    const down = hours.negative[i] as number
    if (up + down <= 0) continue
    positive += up
    negative += down
    size++
  }
  const total = { positive, negative, size }
  if (totals.size === maxTotals) totals.clear()
  totals.set(credit, total)
  return total
}

/**
 * Changes the sums, which nothing else uses. Without `startedAt`, as before retention, all signals of the hour in which the credit
 * starts count for it.
 */
function cutEnds({ from, until }: Credit, hours: readonly Sum[], startedAt: (instant: Instant) => Tally): void {
  const [first, end] = [hourStart(from), until === null ? null : Math.max(until, from)]
  const last = end === null ? null : hourStart(end)
  // Only the first and the last hour can be partly outside of the credit.
  for (const sum of new Set([hours[0], hours.at(-1)])) {
    if (sum === undefined) continue
    const { start } = sum
    if (start === last) Object.assign(sum, startedAt(end as Instant))
    if (start === first) subtract(sum, startedAt(from))
    if (start < from) sum.start = from
  }
}

function addCredit(window: WindowSums & { sums: Sum[] }, { shared, source }: Credit, hours: Sum[]): void {
  if (isEmpty(hours[0])) hours.shift()
  if (isEmpty(hours.at(-1))) hours.pop()
  if (window.sums.length === 0) window.sums = hours
  else for (const sum of hours) window.sums.push(sum)
  const { positive, negative } = totalOf(hours)
  window.attributedBy[source === 'deployment' ? 'deployment' : 'time'] += positive + negative
  if (shared) window.unattributed += positive + negative
}

function isEmpty(sum: Sum | undefined): boolean {
  return sum !== undefined && sum.positive + sum.negative <= 0
}

function addVersion(window: WindowSums, hours: HourlySums, last: Sum | undefined): void {
  for (const [i, start] of hours.start.entries()) {
    const sum = { start, positive: hours.positive[i] as number, negative: hours.negative[i] as number }
    window.sums.push(sum)
    window.attributedBy.version += sum.positive + sum.negative
  }
  if (last === undefined) return
  window.sums.push({ start: last.start, positive: last.positive, negative: last.negative })
  window.attributedBy.version += last.positive + last.negative
}

function subtract(sum: Sum, { positive, negative }: Tally): void {
  sum.positive -= positive
  sum.negative -= negative
}
