import type { HourlySums, Series } from '../signals/series.ts'
import { emptyTally, type Tally } from '../signals/tally.ts'
import type { VersionText } from '../signals/version.ts'
import { hour, hourStart, type Instant } from '../time.ts'
import { type Sum, totalOf } from './blocks.ts'
import type { Credit, Life } from './live-window.ts'

/** How it is known which change signals count for: they name its version, or it was live by a deployment, or by its merge. */
export interface AttributedBy {
  version: number
  deployment: number
  time: number
}

/** The signals that count for one change. */
export interface WindowSums {
  /** In the order of time. */
  sums: Sum[]
  tally: Tally
  attributedBy: AttributedBy
  /** Of these, the signals without a version that came while another version was live too. */
  unattributed: number
}

/** For instants within an hour, the signals without a version of that hour that came before. */
export type StartedHours = Map<Instant, Tally>

/**
 * Credits the hourly sums of a prompt to its changes. An hour in which a change went live is split at that time if `started` has
 * it. Otherwise all signals of the hour count for the change.
 */
export function windowSums(
  lives: readonly Life[],
  versionsOf: (life: Life) => readonly VersionText[],
  { versions }: Pick<Series, 'versions'>,
  unversioned: HourlySums,
  started: StartedHours,
): WindowSums[] {
  const byVersion = new Map(versions.map(({ version, hours }) => [version, hours]))
  const windows = lives.map(
    (): WindowSums => ({
      sums: [],
      tally: emptyTally,
      attributedBy: { version: 0, deployment: 0, time: 0 },
      unattributed: 0,
    }),
  )
  creditByTime(lives, windows, unversioned, started)
  if (byVersion.size > 0) {
    for (const [i, life] of lives.entries()) {
      const { sums, attributedBy } = windows[i] as WindowSums
      const isMixed = sums.length > 0
      let lists = 0
      for (const version of versionsOf(life)) {
        const hours = byVersion.get(version)
        if (hours === undefined) continue
        lists++
        for (let at = 0; at < hours.length; at += 3) {
          const sum = sumAt(hours, at)
          attributedBy.version += sum.positive + sum.negative
          sums.push(sum)
        }
      }
      if (lists > 1 || (isMixed && lists > 0)) sums.sort((a, b) => a.start - b.start)
    }
  }
  for (const window of windows) window.tally = totalOf(window.sums)
  return windows
}

interface CreditOf {
  window: number
  credit: Credit
}

/** At most one change is credited at any time. */
function creditByTime(lives: readonly Life[], windows: WindowSums[], hours: HourlySums, started: StartedHours): void {
  const credits: CreditOf[] = []
  for (const [window, life] of lives.entries()) for (const credit of life.credits) credits.push({ window, credit })
  credits.sort((a, b) => a.credit.from - b.credit.from)
  let at = 0
  for (const { window, credit } of credits) {
    const { from, shared, source } = credit
    const until = credit.until === null ? null : Math.max(credit.until, from)
    const { sums, attributedBy } = windows[window] as WindowSums
    const [first, last] = [hourStart(from), until === null ? Number.POSITIVE_INFINITY : hourStart(until)]
    const before = started.get(from)
    let signals = 0
    const add = (sum: Sum) => {
      if (sum.positive + sum.negative === 0) return
      signals += sum.positive + sum.negative
      sums.push(sum)
    }
    while (at < hours.length && (hours[at] as number) < first) at += 3
    for (; at < hours.length && (hours[at] as number) < last; at += 3) {
      const sum = sumAt(hours, at)
      if (sum.start === first) {
        sum.start = from
        subtract(sum, before)
      }
      add(sum)
    }
    if (until !== null && hours[at] === last) {
      const sum: Sum = { start: Math.max(from, last), ...(started.get(until) ?? emptyTally) }
      if (first === last) subtract(sum, before)
      add(sum)
    }
    attributedBy[source === 'deployment' ? 'deployment' : 'time'] += signals
    if (shared) (windows[window] as WindowSums).unattributed += signals
  }
}

function subtract(sum: Sum, tally: Tally | undefined): void {
  if (tally === undefined) return
  sum.positive -= tally.positive
  sum.negative -= tally.negative
}

function sumAt(hours: HourlySums, at: number): Sum {
  return { start: hours[at] as number, positive: hours[at + 1] as number, negative: hours[at + 2] as number }
}

/** The hourly sums of the signals without a version. */
export function unversionedHours({ hours, versions }: Series): HourlySums {
  if (versions.length === 0) return hours
  const rest = hours.slice()
  const index = new Map<Instant, number>()
  for (let at = 0; at < rest.length; at += 3) index.set(rest[at] as number, at)
  for (const { hours } of versions) {
    for (let from = 0; from < hours.length; from += 3) {
      const at = index.get(hours[from] as number)
      if (at === undefined) continue
      rest[at + 1] = (rest[at + 1] as number) - (hours[from + 1] as number)
      rest[at + 2] = (rest[at + 2] as number) - (hours[from + 2] as number)
    }
  }
  return rest
}

/** The times within hours at which these changes started or ended, if signals without a version came in that hour. */
export function instantsToSplit(lives: Iterable<Life>, unversioned: HourlySums): Instant[] {
  const busy = new Set<Instant>()
  for (let at = 0; at < unversioned.length; at += 3) {
    if ((unversioned[at + 1] as number) + (unversioned[at + 2] as number) > 0) busy.add(unversioned[at] as number)
  }
  const instants = new Set<Instant>()
  for (const { credits } of lives) {
    for (const { from, until } of credits) {
      for (const at of until === null ? [from] : [from, until]) {
        if (at % hour !== 0 && busy.has(hourStart(at))) instants.add(at)
      }
    }
  }
  return [...instants]
}
