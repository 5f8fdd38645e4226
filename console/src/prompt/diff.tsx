import { useMemo, useState } from 'react'
import { changesOf, type Line, type Row } from './changes.ts'

/** What changed in a prompt's text. */
export function Diff({ before, after, patch }: { before: string | null; after: string | null; patch: string | null }) {
  const rows = useMemo(() => changesOf(before ?? '', after ?? ''), [before, after])
  if (before === after) return <p className="quiet">The text did not change.</p>
  if (rows === null) return <pre className="diff-plain">{patch}</pre>
  return (
    <div className="diff">
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of two texts never move.
        <DiffRow key={i} row={row} />
      ))}
    </div>
  )
}

function DiffRow({ row }: { row: Row }) {
  const [open, setOpen] = useState(false)
  if (row.kind !== 'skipped') return <DiffLine line={row} />
  // biome-ignore lint/suspicious/noArrayIndexKey: the rows of two texts never move.
  if (open) return row.lines.map((line, i) => <DiffLine key={i} line={line} />)
  return (
    <button type="button" className="diff-skipped" onClick={() => setOpen(true)}>
      {row.lines.length === 1 ? 'One line' : `${row.lines.length} lines`} unchanged
    </button>
  )
}

const signs = { same: ' ', added: '+', removed: '−' }
const spoken = { same: '', added: 'Added: ', removed: 'Removed: ' }

function DiffLine({ line: { kind, pieces } }: { line: Line }) {
  const Changed = kind === 'added' ? 'ins' : 'del'
  return (
    <div className={`diff-line ${kind}`}>
      <span className="diff-sign" aria-hidden="true">
        {signs[kind]}
      </span>
      <span className="diff-text">
        {kind !== 'same' && <span className="unseen">{spoken[kind]}</span>}
        {pieces.map(({ text, changed }, i) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line never move.
          changed ? <Changed key={i}>{text}</Changed> : <span key={i}>{text}</span>,
        )}
      </span>
    </div>
  )
}
