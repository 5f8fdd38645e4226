import type { Change } from 'diff'
import { diffLines, diffWordsWithSpace } from 'diff'

/** A stretch of a line, changed or not. */
export interface Piece {
  text: string
  changed: boolean
}

export interface Line {
  kind: 'same' | 'added' | 'removed'
  pieces: Piece[]
}

/** Lines that stayed and are not near a change: only how many. */
export type Row = Line | { kind: 'skipped'; lines: Line[] }

// Texts that differ in more than a browser should work on are shown as they are.
const patience = 1_000
const context = 3
// Of two lines that have less in common, the words are not worth comparing.
const likeness = 0.4

/** What changed between two texts, line by line and word by word; null where it takes too long to tell. */
export function changesOf(before: string, after: string): Row[] | null {
  const parts = diffLines(before, after, { timeout: patience }) as Change[] | undefined
  if (parts === undefined) return null
  const lines: Line[] = []
  for (let i = 0; i < parts.length; i++) {
    const [part, next] = [parts[i] as Change, parts[i + 1]]
    if (part.removed && next?.added) {
      lines.push(...replaced(linesOf(part.value), linesOf(next.value)))
      i++
    } else {
      const kind = part.added ? 'added' : part.removed ? 'removed' : 'same'
      lines.push(...linesOf(part.value).map((text) => whole(kind, text)))
    }
  }
  return withoutTheRest(lines)
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function whole(kind: Line['kind'], text: string): Line {
  return { kind, pieces: [{ text, changed: false }] }
}

/** Lines that took the place of others: each pair that is alike has its words compared. */
function replaced(removed: string[], added: string[]): Line[] {
  const [out, into]: [Line[], Line[]] = [[], []]
  for (let i = 0; i < Math.max(removed.length, added.length); i++) {
    const [old, young] = [removed[i], added[i]]
    const pair = old === undefined || young === undefined ? null : compareWords(old, young)
    if (old !== undefined) out.push(pair?.removed ?? whole('removed', old))
    if (young !== undefined) into.push(pair?.added ?? whole('added', young))
  }
  return [...out, ...into]
}

function compareWords(old: string, young: string): { removed: Line; added: Line } | null {
  const words = diffWordsWithSpace(old, young)
  const kept = words.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.length), 0)
  if (kept < likeness * Math.max(old.length, young.length)) return null
  const pieces = (side: 'added' | 'removed') =>
    words
      .filter((word) => word[side] || (!word.added && !word.removed))
      .map((word) => ({ text: word.value, changed: word[side] }))
  return { removed: { kind: 'removed', pieces: pieces('removed') }, added: { kind: 'added', pieces: pieces('added') } }
}

function withoutTheRest(lines: Line[]): Row[] {
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - context), i + context + 1).some(({ kind }) => kind !== 'same'),
  )
  const rows: Row[] = []
  lines.forEach((line, i) => {
    const last = rows.at(-1)
    if (near[i]) rows.push(line)
    else if (last?.kind === 'skipped') last.lines.push(line)
    else rows.push({ kind: 'skipped', lines: [line] })
  })
  return rows
}
