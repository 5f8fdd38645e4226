import { useState } from 'react'
import { Collapsed, DiffText } from '../prompt/diff.tsx'
import type { SplitCell, SplitRow } from './split-rows.ts'

/** The rows of a diff side by side, with line numbers. */
export function SplitDiff({ rows }: { rows: SplitRow[] }) {
  return (
    <div className="diff split-diff">
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a diff are never reordered.
        <Row key={i} row={row} />
      ))}
    </div>
  )
}

const maxExpanded = 500

function Row({ row }: { row: SplitRow }) {
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
        <Row key={i} row={each} />
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
