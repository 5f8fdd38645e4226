import { useState } from 'react'
import { Collapsed, DiffText } from '../prompt/diff.tsx'
import type { Line, Row } from '../prompt/text-diff.ts'

/** The rows of a diff side by side, with line numbers. */
export function SplitDiff({ rows }: { rows: SplitRow[] }) {
  return (
    <div className="diff split-diff">
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a diff are never reordered.
        <Pair key={i} row={row} />
      ))}
    </div>
  )
}

const maxExpanded = 500

function Pair({ row }: { row: SplitRow }) {
  const [expanded, setExpanded] = useState(0)
  if (row.kind === 'lines') {
    return (
      <div className="split-row">
        <Cell cell={row.left} />
        <Cell cell={row.right} />
      </div>
    )
  }
  const left = row.rows.length - expanded
  return (
    <>
      {row.rows.slice(0, expanded).map((each, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a diff are never reordered.
        <Pair key={i} row={each} />
      ))}
      {left > 0 && <Collapsed count={left} onExpand={() => setExpanded(expanded + maxExpanded)} />}
    </>
  )
}

function Cell({ cell }: { cell: SplitCell }) {
  if (cell === null) return <div className="split-cell none" />
  return (
    <div className={`split-cell ${cell.line.kind}`} data-line={cell.number}>
      <DiffText line={cell.line} />
    </div>
  )
}

/** A line with its number; null where the other side has a line without a counterpart. */
type SplitCell = { number: number; line: Line } | null

type SplitRow = { kind: 'lines'; left: SplitCell; right: SplitCell } | { kind: 'collapsed'; rows: SplitRow[] }

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
