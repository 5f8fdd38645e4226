import { useMemo, useState } from 'react'
import { splitUntrusted, UntrustedText } from '../ui/untrusted-text.tsx'
import { diffTexts, type Line, type Row } from './text-diff.ts'

interface Props {
  before: string | null
  after: string | null
  patch: string | null
}

/** How a change edited the prompt's text. */
export function Diff({ before, after, patch }: Props) {
  const rows = useMemo(() => diffTexts(before ?? '', after ?? ''), [before, after])
  if (before === after) return <p className="muted">The text did not change.</p>
  if (rows === null)
    return (
      <pre className="diff-plain">
        <UntrustedText text={patch ?? ''} />
      </pre>
    )
  return (
    <div className="diff">
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a diff are never reordered.
        <DiffRow key={i} row={row} />
      ))}
    </div>
  )
}

function DiffRow({ row }: { row: Row }) {
  const [isExpanded, setIsExpanded] = useState(false)
  if (row.kind !== 'collapsed') return <DiffLine line={row} />
  // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a diff are never reordered.
  if (isExpanded) return row.lines.map((line, i) => <DiffLine key={i} line={line} />)
  return (
    <button type="button" className="diff-collapsed" onClick={() => setIsExpanded(true)}>
      {row.lines.length === 1 ? '1 unchanged line' : `${row.lines.length} unchanged lines`}
    </button>
  )
}

const signs = { same: ' ', added: '+', removed: '−' }
const spokenSigns = { same: '', added: 'Added: ', removed: 'Removed: ' }

function DiffLine({ line: { kind, pieces } }: { line: Line }) {
  const Changed = kind === 'added' ? 'ins' : 'del'
  return (
    <div className={`diff-line ${kind}`}>
      <span className="diff-sign" aria-hidden="true">
        {signs[kind]}
      </span>
      <span className="diff-text">
        {kind !== 'same' && <span className="visually-hidden">{spokenSigns[kind]}</span>}
        {splitUntrusted(pieces).map(({ text, runs, changed }, i) => {
          const Piece = changed ? Changed : 'span'
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line are never reordered.
            <Piece key={i}>
              <UntrustedText text={text} runs={runs} />
            </Piece>
          )
        })}
      </span>
    </div>
  )
}
