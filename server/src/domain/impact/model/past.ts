import { createBoundedMap } from '../../bounded-map.ts'
import type { HourlySums } from '../../signals/tally.ts'
import { firstFrom } from '../../sorted.ts'
import { hour } from '../../time.ts'
import { derivedFrom } from '../cache.ts'
import type { LivePeriod } from '../live/live-window.ts'
import type { VoteHistory } from '../reading/vote-history.ts'
import { type Chain, chainOf } from './chain.ts'
import { levelsBefore } from './evidence.ts'
import { createFingerprint } from './fingerprint.ts'
import type { Levels } from './local-level.ts'
import type { Season } from './season.ts'

/** How the votes of a prompt drifted before each of its windows. */
export interface Past {
  /** The same as long as the votes and the windows are. */
  fingerprint: string
  /** How many votes a block of the window of this change has at least. */
  sizeOf(period: LivePeriod): number
  /** Null if no votes came before the window of this change. */
  levelsBefore(period: LivePeriod): Levels | null
  /** How the votes follow the days of the week. The levels are without it. */
  season(): Season | null
}

// The sizes of this many windows with votes are remembered, 16 bytes each.
const sizes = createBoundedMap<Pick<Chain, 'windows' | 'sizes' | 'sizeOfEmpty'>>(100_000)

/** `periods`: the changes whose `levelsBefore` may be asked for. */
export function pastOf(history: VoteHistory, periods: readonly LivePeriod[], designEffect = 1): Past {
  const fingerprint = fingerprintOf(history, designEffect)
  let chain: Chain | null = null
  let levels: (Levels | null)[] | null = null
  let known = sizes.get(fingerprint)

  const cut = (): Chain => {
    chain ??= chainOf(history, designEffect)
    return chain
  }
  if (known === undefined) {
    const { windows, sizes: ofWindows, sizeOfEmpty } = cut()
    known = { windows, sizes: ofWindows, sizeOfEmpty }
    sizes.set(fingerprint, known, windows.length)
  }
  const { windows, sizes: sizesOfWindows, sizeOfEmpty } = known

  return {
    fingerprint,
    sizeOf(period) {
      const window = windowOf(history, period)
      const at = firstFrom(windows, window)
      return windows[at] === window ? (sizesOfWindows[at] as number) : sizeOfEmpty
    },
    // Takes most of the time of a verdict, and is not needed while the evidence is known.
    levelsBefore(period) {
      if (levels === null) {
        const wanted = new Set(periods.map((each) => firstFrom(windows, windowOf(history, each))))
        levels = levelsBefore(cut().blocks, windows.length, (at) => wanted.has(at))
      }
      // Before a window without votes, the levels are those before the next one with votes.
      return levels[firstFrom(windows, windowOf(history, period))] ?? null
    },
    season: () => cut().season,
  }
}

/** The window of the change in the chain, which starts with the votes from before the first change. */
function windowOf({ placeOf }: VoteHistory, { change }: LivePeriod): number {
  return (placeOf.get(change.id) as number) + 1
}

/** Of everything that the chain depends on. */
function fingerprintOf({ prompt, periods, hours }: VoteHistory, designEffect: number): string {
  return `${prompt.id} ${designEffect} ${derivedFrom(periods, fingerprintOfPeriods)} ${derivedFrom(hours, fingerprintOfHours)}`
}

function fingerprintOfHours({ start, positive, negative }: HourlySums): string {
  const { addIntegers, text } = createFingerprint()
  addIntegers(start, hour)
  addIntegers(positive)
  addIntegers(negative)
  return text()
}

function fingerprintOfPeriods(periods: readonly LivePeriod[]): string {
  const { add, text } = createFingerprint()
  for (const { windows, credits } of periods) {
    add(windows[0]?.from ?? 0)
    add(credits.length)
    for (const { from, until } of credits) {
      add(from)
      add(until ?? -1)
    }
  }
  return text()
}
