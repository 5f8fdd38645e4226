import type { Line, Row } from '../prompt/text-diff.ts'

/** A line with its number; null where the other side has a line without a counterpart. */
export type SplitCell = { number: number; line: Line } | null

export type SplitRow = { kind: 'lines'; left: SplitCell; right: SplitCell } | { kind: 'collapsed'; rows: SplitRow[] }

/** The rows of a diff for two columns: removed lines on the left, added ones on the right, beside what they replace. */
export function splitRows(rows: Row[]): SplitRow[] {
  const split: SplitRow[] = []
  let [left, right] = [0, 0]
  const same = (line: Line): SplitRow => ({
    kind: 'lines',
    left: { number: ++left, line },
    right: { number: ++right, line },
  })
  for (let i = 0; i < rows.length; ) {
    const row = rows[i] as Row
    if (row.kind === 'collapsed') {
      split.push({ kind: 'collapsed', rows: row.lines.map(same) })
      i++
    } else if (row.kind === 'same') {
      split.push(same(row))
      i++
    } else {
      const removed = linesOfKind(rows, i, 'removed')
      const added = linesOfKind(rows, i + removed.length, 'added')
      for (let j = 0; j < Math.max(removed.length, added.length); j++) {
        const [before, after] = [removed[j], added[j]]
        split.push({
          kind: 'lines',
          left: before === undefined ? null : { number: ++left, line: before },
          right: after === undefined ? null : { number: ++right, line: after },
        })
      }
      i += removed.length + added.length
    }
  }
  return split
}

/** The lines of one kind from an index on. */
function linesOfKind(rows: Row[], from: number, kind: 'added' | 'removed'): Line[] {
  const lines: Line[] = []
  for (let i = from; i < rows.length; i++) {
    const row = rows[i] as Row
    if (row.kind !== kind) break
    lines.push(row)
  }
  return lines
}
