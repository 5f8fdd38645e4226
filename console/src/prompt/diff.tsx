import { useMemo, useState } from 'react'
import { countOf } from '../ui/number.ts'
import { splitUntrusted, UntrustedText } from '../ui/untrusted-text.tsx'
import { DiffChanges } from './diff-changes.tsx'
import { diffTexts, type Line, type Piece, type Row } from './text-diff.ts'

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
    <DiffChanges rows={rows}>
      <div className="diff">
        {rows.map((row, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a diff are never reordered.
          <DiffRow key={i} row={row} />
        ))}
      </div>
    </DiffChanges>
  )
}

// More rows at once would make the page slow.
const maxExpanded = 500

export function DiffRow({ row }: { row: Row }) {
  const [expanded, setExpanded] = useState(0)
  if (row.kind !== 'collapsed') return <DiffLine line={row} />
  const left = row.lines.length - expanded
  return (
    <>
      {row.lines.slice(0, expanded).map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a diff are never reordered.
        <DiffLine key={i} line={line} />
      ))}
      {left > 0 && <Collapsed count={left} onExpand={() => setExpanded(expanded + maxExpanded)} />}
    </>
  )
}

/** Unchanged lines that are left out until they are asked for. */
export function Collapsed({ count, onExpand }: { count: number; onExpand: () => void }) {
  return (
    <button type="button" className="diff-collapsed" onClick={onExpand}>
      {countOf(count, 'unchanged line')}
    </button>
  )
}

const signs = { same: ' ', added: '+', removed: '−' }
const spokenSigns = { same: '', added: 'Added: ', removed: 'Removed: ' }

function DiffLine({ line }: { line: Line }) {
  return (
    <div className={`diff-line ${line.kind}`}>
      <span className="diff-sign" aria-hidden="true">
        {signs[line.kind]}
      </span>
      <DiffText line={line} />
    </div>
  )
}

/** The text of a line, with its changed words. Of a long line, the text around them is shown, and the rest on request. */
export function DiffText({ line: { kind, pieces } }: { line: Line }) {
  const [isWhole, setIsWhole] = useState(false)
  const Changed = kind === 'added' ? 'ins' : 'del'
  return (
    <span className="diff-text">
      {kind !== 'same' && <span className="visually-hidden">{spokenSigns[kind]}</span>}
      {splitUntrusted<ShownPiece>(isWhole ? pieces : withGaps(pieces)).map(({ text, runs, changed, isGap }, i) => {
        if (isGap)
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line are never reordered.
            <button key={i} type="button" className="diff-gap" onClick={() => setIsWhole(true)}>
              … {countOf(text.length, 'more character')} …
            </button>
          )
        const Piece = changed ? Changed : 'span'
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line are never reordered.
          <Piece key={i}>
            <UntrustedText text={text} runs={runs} />
          </Piece>
        )
      })}
    </span>
  )
}

/** Unchanged text that is longer is left out, except for this much of it beside a change. */
const maxUnchanged = 1_000
const context = 200
/** The part of a changed piece that is shown, such as of a line that is new. */
const maxChanged = 5_000

interface ShownPiece extends Piece {
  /** It is left out until it is asked for. */
  isGap?: boolean
}

/** Divides long pieces into shown and hidden lines. */
function withGaps(pieces: Piece[]): ShownPiece[] {
  return pieces.flatMap((piece, i): ShownPiece[] => {
    const { length } = piece.text
    const isWhole = pieces.length === 1
    if (length <= (piece.changed || isWhole ? maxChanged : maxUnchanged)) return [piece]
    if (piece.changed || isWhole) return divided(piece, maxChanged, length)
    return divided(piece, i === 0 ? 0 : context, i === pieces.length - 1 ? length : length - context)
  })
}

/** Leaves the text between two places out, which are moved so that no character is cut in half. */
function divided(piece: Piece, from: number, to: number): ShownPiece[] {
  const whole = (at: number) => (/[\uDC00-\uDFFF]/.test(piece.text.charAt(at)) ? at - 1 : at)
  const [start, end] = [whole(from), whole(to)]
  return [
    { ...piece, text: piece.text.slice(0, start) },
    { ...piece, text: piece.text.slice(start, end), isGap: true },
    { ...piece, text: piece.text.slice(end) },
  ].filter(({ text }) => text !== '')
}
