import { createBoundedMap } from '../bounded-map.ts'
import { hour } from '../time.ts'
import { type Chain, chainOf } from './chain.ts'
import { levelsBefore } from './evidence.ts'
import { createFingerprint } from './fingerprint.ts'
import type { Life } from './live-window.ts'
import type { Levels } from './local-level.ts'
import type { Season } from './season.ts'
import type { VoteHistory } from './vote-history.ts'

/** How the votes of a prompt wandered before each of its windows. */
export interface Past {
  /** The same as long as the votes and the windows are. */
  fingerprint: string
  /** How many votes a block of the window of this change has at least. */
  sizeOf(life: Life): number
  /** Null if no votes came before the window of this change. */
  levelsBefore(life: Life): Levels | null
  /** How the votes follow the days of the week. The levels are without it. */
  season(): Season | null
}

// The sizes of all windows of this many changes are remembered, 8 bytes each.
const sizes = createBoundedMap<number[]>(100_000)

/** `lives`: the changes whose `levelsBefore` may be asked for. */
export function pastOf(history: VoteHistory, lives: readonly Life[], votesPerVoice = 1): Past {
  const fingerprint = fingerprintOf(history, votesPerVoice)
  let chain: Chain | null = null
  let levels: (Levels | null)[] | null = null
  let sizesOfWindows = sizes.get(fingerprint)

  const cut = (): Chain => {
    chain ??= chainOf(history, votesPerVoice)
    return chain
  }
  if (sizesOfWindows === undefined) {
    sizesOfWindows = cut().sizes
    sizes.set(fingerprint, sizesOfWindows, sizesOfWindows.length)
  }

  return {
    fingerprint,
    sizeOf: (life) => sizesOfWindows[windowOf(history, life)] as number,
    // Takes most of the time of a verdict, and is not needed while the evidence is known.
    levelsBefore(life) {
      if (levels === null) {
        const { blocks, windows } = cut()
        const wanted = new Set(lives.map((each) => windowOf(history, each)))
        levels = levelsBefore(blocks, windows, (window) => wanted.has(window))
      }
      return levels[windowOf(history, life)] ?? null
    },
    season: () => cut().season,
  }
}

/** The window of the change in the chain, which starts with the votes from before the first change. */
function windowOf({ placeOf }: VoteHistory, { change }: Life): number {
  return (placeOf.get(change.id) as number) + 1
}

/** Of everything that the chain depends on. */
function fingerprintOf({ prompt, lives, hours }: VoteHistory, votesPerVoice: number): string {
  const { add, addIntegers, text } = createFingerprint()
  add(prompt.id)
  add(votesPerVoice)
  for (const { windows, credits } of lives) {
    add(windows[0]?.from ?? 0)
    add(credits.length)
    for (const { from, until } of credits) {
      add(from)
      add(until ?? -1)
    }
  }
  addIntegers(hours.start, hour)
  addIntegers(hours.positive)
  addIntegers(hours.negative)
  return text()
}
