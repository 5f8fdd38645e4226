import { diffLines, diffWordsWithSpace } from 'diff'
import { styled, type Text } from './text.ts'

// Very different long texts would take minutes.
const timeoutMs = 2_000
const contextLines = 3
// Below this share of common characters, marked words are harder to read than two whole lines.
const minSimilarity = 0.4

interface Piece {
  text: string
  changed: boolean
}

interface Line {
  sign: ' ' | '+' | '-'
  pieces: Piece[]
}

/** The lines in which two texts differ, with the changed words marked; null if it takes too long to compute. */
export function diffTexts(before: string, after: string): Text[] | null {
  const deadline = performance.now() + timeoutMs
  const parts = diffLines(before, after, { timeout: timeoutMs })
  if (parts === undefined) return null
  const lines: Line[] = []
  for (let i = 0; i < parts.length; i++) {
    const [part, next] = [parts[i] as (typeof parts)[number], parts[i + 1]]
    if (part.removed && next?.added) {
      lines.push(...replacedLines(splitLines(part.value), splitLines(next.value), deadline))
      i++
    } else {
      const sign = part.added ? '+' : part.removed ? '-' : ' '
      lines.push(...splitLines(part.value).map((text) => wholeLine(sign, text)))
    }
  }
  return nearChanges(lines)
}

function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function wholeLine(sign: Line['sign'], text: string): Line {
  return { sign, pieces: [{ text, changed: false }] }
}

/** Compares each removed line with the added one at its place. */
function replacedLines(before: string[], after: string[], deadline: number): Line[] {
  const removed = before.map((text) => wholeLine('-', text))
  const added = after.map((text) => wholeLine('+', text))
  for (let i = 0; i < Math.min(before.length, after.length); i++) {
    const timeout = deadline - performance.now()
    if (timeout <= 0) break
    const words = diffWordsWithSpace(before[i] as string, after[i] as string, { timeout })
    if (words === undefined) break
    const common = words.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.length), 0)
    if (common < minSimilarity * Math.max(before[i]?.length ?? 0, after[i]?.length ?? 0)) continue
    const pieces = (side: 'added' | 'removed') =>
      words
        .filter((word) => word[side] || (!word.added && !word.removed))
        .map((word) => ({ text: word.value, changed: word[side] === true }))
    removed[i] = { sign: '-', pieces: pieces('removed') }
    added[i] = { sign: '+', pieces: pieces('added') }
  }
  return [...removed, ...added]
}

/** Leaves out unchanged lines that are far from a change. */
function nearChanges(lines: Line[]): Text[] {
  const shown: Text[] = []
  let lastChange = Number.NEGATIVE_INFINITY
  const nextChange: number[] = []
  for (let i = lines.length - 1, next = Number.POSITIVE_INFINITY; i >= 0; i--) {
    if (lines[i]?.sign !== ' ') next = i
    nextChange[i] = next
  }
  let hidden = 0
  lines.forEach((line, i) => {
    if (line.sign !== ' ') lastChange = i
    if (i - lastChange > contextLines && (nextChange[i] as number) - i > contextLines) {
      hidden++
      return
    }
    if (hidden > 0) shown.push(hiddenLines(hidden))
    hidden = 0
    shown.push(paintLine(line))
  })
  if (hidden > 0 && shown.length > 0) shown.push(hiddenLines(hidden))
  return shown
}

function hiddenLines(count: number): Text {
  return styled('cyan', `@@ ${count === 1 ? '1 unchanged line' : `${count} unchanged lines`} @@`)
}

const colours = { '+': 'green', '-': 'red' } as const

function paintLine({ sign, pieces }: Line): Text {
  if (sign === ' ') return [' ', ...pieces.map(({ text }) => text)]
  const colour = colours[sign]
  return [
    styled(colour, sign),
    ...pieces.map(({ text, changed }) => styled(changed ? [colour, 'inverse'] : colour, text)),
  ]
}
