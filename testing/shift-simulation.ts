import { cutBlocks, type Sum } from '../server/src/domain/impact/model/blocks.ts'
import { defaultDrift } from '../server/src/domain/impact/model/drift.ts'
import { evidenceOfChanges } from '../server/src/domain/impact/model/evidence.ts'
import { judge } from '../server/src/domain/impact/model/judgement.ts'
import { shiftsOf } from '../server/src/domain/impact/model/shifts.ts'
import { totalOf } from '../server/src/domain/signals/tally.ts'
import { day, hour, hourStart } from '../server/src/domain/time.ts'
import { type Random, seededRandom } from './random.ts'
import { votesPerDay, walk } from './votes.ts'

// How often a shift without a change is found among changes, with and without the steps of changes that were judged better or worse.
// Run as a program it prints a table: npx node testing/shift-simulation.ts [histories per row, 200 by default]

const total = 6_000
// A change every 500 votes. One is worse, and another one repairs it.
const votesPerChange = 500
const [worse, repaired, shifted] = [2_000, 3_000, 4_250]

export interface ShiftCase {
  name: string
  /** By how much the rate falls with one change, until another repairs it. */
  effect: number
  /** By how much it falls without a change. */
  fall: number
  /** How many points the rate drifts a day. */
  drift: number
}

export interface ShiftShares {
  /** The share of histories in which the fall without a change was found. */
  found: number
  /** The share with a shift at any other time, apart from those of the two changes. */
  wrong: number
}

export const shiftCases: ShiftCase[] = [
  { name: 'a fall of 10 points', effect: 0, fall: 0.1, drift: 0 },
  { name: 'a change is 13 points worse and is repaired, then a fall of 10', effect: 0.13, fall: 0.1, drift: 0 },
  { name: 'the same, with a random walk of 1 point a day', effect: 0.13, fall: 0.1, drift: 1 },
  { name: 'a change is 13 points worse and is repaired, no fall', effect: 0.13, fall: 0, drift: 0 },
  { name: 'the same, with a random walk of 1 point a day', effect: 0.13, fall: 0, drift: 1 },
  { name: 'nothing but a random walk of 1 point a day', effect: 0, fall: 0, drift: 1 },
]

export function simulateShifts(
  shiftCase: ShiftCase,
  histories: number,
  seed: number,
): { unknown: ShiftShares; known: ShiftShares } {
  const random = seededRandom(seed)
  const shares = { unknown: { found: 0, wrong: 0 }, known: { found: 0, wrong: 0 } }
  for (let i = 0; i < histories; i++) {
    const windows = draw(shiftCase, random)
    const blocks = cutBlocks(windows)
    const judged = evidenceOfChanges(blocks, windows.length, defaultDrift).map((evidence, window) => {
      if (evidence === null) return null
      const [before, after] = [totalOf(windows[window - 1] as Sum[]), totalOf(windows[window] as Sum[])]
      return judge({ before, after, evidence }).verdict
    })
    const steps = [...judged.keys()].filter((window) => judged[window] === 'better' || judged[window] === 'worse')
    const known = new Set(steps.map((window) => blocks.window.indexOf(window)))
    for (const [name, set] of [
      ['unknown', new Set<number>()],
      ['known', known],
    ] as const) {
      const { found, wrong } = sortOut(shiftCase, shiftsOf(blocks, defaultDrift, set))
      if (found) shares[name].found += 1 / histories
      if (wrong) shares[name].wrong += 1 / histories
    }
  }
  return shares
}

function sortOut({ effect, fall }: ShiftCase, shifts: { between: [number, number] }[]) {
  const isAt = (vote: number) => (shift: { between: [number, number] }) =>
    shift.between[0] <= timeOf(vote) && timeOf(vote) <= shift.between[1] + 6 * hour
  const real = [...(fall > 0 ? [shifted] : []), ...(effect > 0 ? [worse, repaired] : [])].map(isAt)
  return {
    found: fall > 0 && shifts.some(isAt(shifted)),
    wrong: shifts.some((shift) => !real.some((matches) => matches(shift))),
  }
}

function draw({ effect, fall, drift }: ShiftCase, random: Random): Sum[][] {
  const windows: Sum[][] = []
  const levelAt = walk(drift)(random)
  for (let i = 0; i < total; i++) {
    if (i % votesPerChange === 0) windows.push([])
    const level = levelAt(i, false) - (i >= worse && i < repaired ? effect : 0) - (i >= shifted ? fall : 0)
    const sums = windows.at(-1) as Sum[]
    const start = hourStart(timeOf(i))
    if (sums.at(-1)?.start !== start) sums.push({ start, positive: 0, negative: 0 })
    const sum = sums.at(-1) as Sum
    if (random() < level) sum.positive++
    else sum.negative++
  }
  return windows
}

function timeOf(vote: number): number {
  return Math.floor((vote * day) / votesPerDay)
}

if (import.meta.main) {
  const histories = Number(process.argv[2] ?? 200)
  const percent = (share: number) => `${(100 * share).toFixed(1)}%`
  console.log('| shifts without a change | found before | found | wrong before | wrong |\n|---|---:|---:|---:|---:|')
  for (const [i, shiftCase] of shiftCases.entries()) {
    const { unknown, known } = simulateShifts(shiftCase, histories, 50 + i)
    const found = ({ found }: ShiftShares) => (shiftCase.fall > 0 ? percent(found) : '')
    const row = [shiftCase.name, found(unknown), found(known), percent(unknown.wrong), percent(known.wrong)]
    console.log(`| ${row.join(' | ')} |`)
  }
}
