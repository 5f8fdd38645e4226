import {
  describeHidden,
  findHidden,
  findInSteps,
  type HiddenKind,
  type HiddenRun,
  hiddenKinds,
} from '../hidden-text.ts'
import { createTurns } from '../time.ts'

/** `added` if the change itself adds hidden characters to the prompt's text, `present` if it only keeps earlier ones. */
export type HiddenStatus = 'none' | 'present' | 'added'

/** The hidden characters in a prompt's text after a change, and how many of them the change added. */
interface HiddenCharacters {
  count: number
  added: number
  /** Only the kinds that occur. */
  kinds: { kind: HiddenKind; count: number; added: number }[]
  /** The first 100 in the order of the text. If there are more, those that the change added take precedence. */
  positions: HiddenPosition[]
}

interface HiddenPosition {
  /** From 1. Columns count characters, hidden ones included. */
  line: number
  column: number
  kind: HiddenKind
  /** The number of adjacent characters. */
  length: number
  label: string
  added: boolean
}

// Text made of hidden characters only would otherwise take hundreds of megabytes to compare.
const maxRuns = 10_000
const maxPositions = 100
const maxLabelLength = 500

/** Compares a prompt's texts before and after a change. Counts at most 10,000 runs of hidden characters. */
export function compareHidden(before: string, after: string): HiddenCharacters {
  const [earlier, later] = [before, after].map(withoutByteOrderMark) as [string, string]
  return compareRuns(earlier, findHidden(earlier, maxRuns), later, findHidden(later, maxRuns))
}

/** The same for texts of any length, while other requests run. */
export async function compareHiddenInTurns(before: string, after: string): Promise<HiddenCharacters> {
  const [earlier, later] = [before, after].map(withoutByteOrderMark) as [string, string]
  return compareRuns(earlier, await findInTurns(earlier), later, await findInTurns(later))
}

async function findInTurns(text: string): Promise<HiddenRun[]> {
  const runs: HiddenRun[] = []
  const takeTurns = createTurns()
  for (const _ of findInSteps(text, maxRuns, runs)) {
    const turn = takeTurns()
    if (turn !== undefined) await turn
  }
  return runs
}

function compareRuns(before: string, earlierRuns: HiddenRun[], text: string, laterRuns: HiddenRun[]): HiddenCharacters {
  const earlier = countBySurroundings(before, earlierRuns)
  const runs = laterRuns.map((run) => {
    const surroundings = surroundingsOf(text, run)
    const left = earlier.get(surroundings) ?? 0
    earlier.set(surroundings, left - 1)
    return { ...run, length: countCharacters(text, run), added: left <= 0 }
  })
  const counts = (kind: HiddenKind | null) => {
    const counted = runs.filter((run) => kind === null || run.kind === kind)
    const sum = (some: typeof runs) => some.reduce((total, { length }) => total + length, 0)
    return { count: sum(counted), added: sum(counted.filter(({ added }) => added)) }
  }
  return {
    ...counts(null),
    kinds: hiddenKinds.map((kind) => ({ kind, ...counts(kind) })).filter(({ count }) => count > 0),
    positions: positionsOf(text, [...runs.filter(({ added }) => added), ...runs.filter(({ added }) => !added)]),
  }
}

export function hiddenStatus({ count, added }: Pick<HiddenCharacters, 'count' | 'added'>): HiddenStatus {
  if (added > 0) return 'added'
  return count > 0 ? 'present' : 'none'
}

/** At the start of a file it only says how the file is encoded. */
function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

function countBySurroundings(text: string, runs: HiddenRun[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const run of runs) {
    const surroundings = surroundingsOf(text, run)
    counts.set(surroundings, (counts.get(surroundings) ?? 0) + 1)
  }
  return counts
}

/** With its neighbours, so that a character that moves within the text counts as added. */
function surroundingsOf(text: string, { start, end }: HiddenRun): string {
  return text.slice(Math.max(0, start - 1), end + 1)
}

function positionsOf(text: string, runs: (HiddenRun & { length: number; added: boolean })[]): HiddenPosition[] {
  let [offset, line, column] = [0, 1, 1]
  const shown = runs.slice(0, maxPositions).sort((a, b) => a.start - b.start)
  return shown.map(({ kind, start, end, length, added }) => {
    for (; offset < start; offset++) {
      if (text[offset] === '\n') [line, column] = [line + 1, 1]
      else if (!isLowSurrogate(text, offset)) column++
    }
    const label = describeHidden(text.slice(start, end), kind).label.slice(0, maxLabelLength)
    return { line, column, kind, length, label, added }
  })
}

function countCharacters(text: string, { start, end }: HiddenRun): number {
  let count = 0
  for (let i = start; i < end; i++) if (!isLowSurrogate(text, i)) count++
  return count
}

/** The second half of a character that takes two units of a string. */
function isLowSurrogate(text: string, offset: number): boolean {
  return (text.charCodeAt(offset) & 0xfc00) === 0xdc00
}
