import type { Piece } from './text-diff.ts'

/** Unchanged text that is longer is left out, except for this much of it beside a change. */
const maxUnchanged = 1_000
const context = 200
/** The part of a changed piece that is shown, such as of a line that is new. */
const maxChanged = 5_000

export interface ShownPiece extends Piece {
  /** It is left out until it is asked for. */
  isGap?: boolean
}

/** Divides long pieces into what is shown and what is left out. */
export function withGaps(pieces: Piece[]): ShownPiece[] {
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
