import type { Change } from 'diff'
import { diffLines, diffWordsWithSpace } from 'diff'

/** Part of a line, changed or unchanged. */
export interface Piece {
  text: string
  changed: boolean
}

export interface Line {
  kind: 'same' | 'added' | 'removed'
  pieces: Piece[]
}

/** Unchanged lines that are not near a change are collapsed. */
export type Row = Line | { kind: 'collapsed'; lines: Line[] }

// Diffing very different long texts would block the browser.
const timeoutMs = 1_000
const contextLines = 3
// Below this share of common characters, a word diff is harder to read than two whole lines.
const minSimilarity = 0.4

/** The diff of two texts by line, and by word within changed lines; null if it takes too long to compute. */
export function diffTexts(before: string, after: string): Row[] | null {
  const parts = diffLines(before, after, { timeout: timeoutMs }) as Change[] | undefined
  if (parts === undefined) return null
  const lines: Line[] = []
  // Lines that are left when the time is up are shown as a whole.
  const deadline = performance.now() + timeoutMs
  for (let i = 0; i < parts.length; i++) {
    const [part, next] = [parts[i] as Change, parts[i + 1]]
    if (part.removed && next?.added) {
      lines.push(...diffReplacedLines(splitLines(part.value), splitLines(next.value), deadline))
      i++
    } else {
      const kind = part.added ? 'added' : part.removed ? 'removed' : 'same'
      lines.push(...splitLines(part.value).map((text) => wholeLine(kind, text)))
    }
  }
  return collapseUnchanged(lines)
}

/** Without comparing: the equal lines at both ends, and between them all old and all new lines. */
export function replaceTexts(before: string, after: string): Row[] {
  const [oldLines, newLines] = [splitLines(before), splitLines(after)]
  const shorter = Math.min(oldLines.length, newLines.length)
  let start = 0
  while (start < shorter && oldLines[start] === newLines[start]) start++
  let end = 0
  while (end < shorter - start && oldLines.at(-1 - end) === newLines.at(-1 - end)) end++
  return collapseUnchanged([
    ...oldLines.slice(0, start).map((text) => wholeLine('same', text)),
    ...oldLines.slice(start, oldLines.length - end).map((text) => wholeLine('removed', text)),
    ...newLines.slice(start, newLines.length - end).map((text) => wholeLine('added', text)),
    ...oldLines.slice(oldLines.length - end).map((text) => wholeLine('same', text)),
  ])
}

function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function wholeLine(kind: Line['kind'], text: string): Line {
  return { kind, pieces: [{ text, changed: false }] }
}

/** Pairs removed lines with added ones, and compares each similar pair by word. */
function diffReplacedLines(oldLines: string[], newLines: string[], deadline: number): Line[] {
  const [removed, added]: [Line[], Line[]] = [[], []]
  for (let i = 0; i < Math.max(oldLines.length, newLines.length); i++) {
    const [oldLine, newLine] = [oldLines[i], newLines[i]]
    const pair = oldLine === undefined || newLine === undefined ? null : diffWords(oldLine, newLine, deadline)
    if (oldLine !== undefined) removed.push(pair?.removed ?? wholeLine('removed', oldLine))
    if (newLine !== undefined) added.push(pair?.added ?? wholeLine('added', newLine))
  }
  return [...removed, ...added]
}

function diffWords(oldLine: string, newLine: string, deadline: number): { removed: Line; added: Line } | null {
  const timeout = deadline - performance.now()
  if (timeout <= 0) return null
  // A line of 200 KB would take longer than the time limit, although most changes are a few words of it.
  const [start, end] = commonEnds(oldLine, newLine)
  const middle = (line: string) => line.slice(start, line.length - end)
  const compared = diffWordsWithSpace(middle(oldLine), middle(newLine), { timeout }) as Change[] | undefined
  if (compared === undefined) return null
  const words = [
    sameWords(oldLine.slice(0, start)),
    ...compared,
    sameWords(oldLine.slice(oldLine.length - end)),
  ].filter(({ value }) => value !== '')
  const common = words.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.length), 0)
  if (common < minSimilarity * Math.max(oldLine.length, newLine.length)) return null
  const pieces = (side: 'added' | 'removed') =>
    words
      .filter((word) => word[side] || (!word.added && !word.removed))
      .map((word) => ({ text: word.value, changed: word[side] }))
  return { removed: { kind: 'removed', pieces: pieces('removed') }, added: { kind: 'added', pieces: pieces('added') } }
}

function sameWords(value: string): Pick<Change, 'added' | 'removed' | 'value'> {
  return { value, added: false, removed: false }
}

const wordCharacter = /[\p{L}\p{M}\p{N}_\p{Cs}]/u

/** How many characters two lines have in common at the start and at the end, in whole words. */
function commonEnds(one: string, other: string): [start: number, end: number] {
  const isInWord = (at: number) => wordCharacter.test(one.charAt(at - 1)) && wordCharacter.test(one.charAt(at))
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one.charCodeAt(start) === other.charCodeAt(start)) start++
  while (start > 0 && (isInWord(start) || wordCharacter.test(other.charAt(start)))) start--
  let end = 0
  while (end < shorter - start && one.charCodeAt(one.length - 1 - end) === other.charCodeAt(other.length - 1 - end))
    end++
  while (end > 0 && (isInWord(one.length - end) || wordCharacter.test(other.charAt(other.length - end - 1)))) end--
  return [start, end]
}

function collapseUnchanged(lines: Line[]): Row[] {
  const isNearChange = lines.map((_, i) =>
    lines.slice(Math.max(0, i - contextLines), i + contextLines + 1).some(({ kind }) => kind !== 'same'),
  )
  const rows: Row[] = []
  lines.forEach((line, i) => {
    const last = rows.at(-1)
    if (isNearChange[i]) rows.push(line)
    else if (last?.kind === 'collapsed') last.lines.push(line)
    else rows.push({ kind: 'collapsed', lines: [line] })
  })
  return rows
}
