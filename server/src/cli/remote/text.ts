import { visibleLine } from '../output.ts'

const codes = { bold: 1, dim: 2, inverse: 7, red: 31, green: 32, yellow: 33, cyan: 36 } as const

type Style = keyof typeof codes

interface Styled {
  styles: Style[]
  text: string
}

/** Part of a line, or several. Only `paint` turns it into output, and escapes every piece: colour is the only control sequence. */
export type Text = string | Styled | Text[]

export function styled(style: Style | Style[], text: string): Text {
  return { styles: Array.isArray(style) ? style : [style], text }
}

export function paint(text: Text, colour: boolean): string {
  if (typeof text === 'string') return visibleLine(text)
  if (Array.isArray(text)) return text.map((part) => paint(part, colour)).join('')
  const plain = visibleLine(text.text)
  return colour && plain !== ''
    ? `\u001b[${text.styles.map((style) => codes[style]).join(';')}m${plain}\u001b[0m`
    : plain
}

/** The columns that a text takes on a terminal. */
export function widthOf(text: Text): number {
  let width = 0
  for (const character of paint(text, false)) width += characterWidth(character)
  return width
}

const wide =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u

function characterWidth(character: string): number {
  if (/^[\p{Mn}\p{Me}\p{Cf}]$/u.test(character)) return 0
  return wide.test(character) ? 2 : 1
}

/** Cuts a text that is too wide, and marks the cut. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let result = ''
  let taken = 1
  for (const character of visibleLine(text)) {
    taken += characterWidth(character)
    if (taken > width) break
    result += character
  }
  return `${result}…`
}

/** Breaks a text into lines between words. A longer word takes a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, line]
}

export interface Column {
  title: string
  align?: 'right'
  /** Is cut if the line would be wider than the screen. */
  flexible?: boolean
  /** Is left out if cutting is not enough, the last one first. */
  optional?: boolean
}

/** Aligns cells under their titles. `width` is null if lines may have any length. */
export function columns(heads: Column[], rows: Text[][], width: number | null): Text[] {
  const widths = heads.map(({ title }, i) => Math.max(title.length, ...rows.map((row) => widthOf(row[i] ?? ''))))
  const flexible = heads.findIndex((head) => head.flexible)
  const total = widths.reduce((sum, each) => sum + each + 2, -2)
  if (width !== null && total > width) {
    const cuttable = flexible < 0 ? 0 : Math.max(0, (widths[flexible] as number) - minFlexibleWidth)
    const left = total - cuttable > width ? heads.findLastIndex((head) => head.optional) : -1
    if (left >= 0) {
      const rest = <T>(cells: T[]) => cells.filter((_, i) => i !== left)
      return columns(rest(heads), rows.map(rest), width)
    }
    if (flexible >= 0) widths[flexible] = (widths[flexible] as number) - Math.min(cuttable, total - width)
  }
  const line = (cells: Text[]) =>
    cells
      .map((cell, i) =>
        pad(fit(cell, widths[i] as number), widths[i] as number, heads[i]?.align, i === cells.length - 1),
      )
      .flatMap((cell, i) => (i === 0 ? [cell] : ['  ', cell]))
  return [line(heads.map(({ title }) => styled('dim', title))), ...rows.map(line)]
}

const minFlexibleWidth = 12

function fit(cell: Text, width: number): Text {
  if (Array.isArray(cell) || widthOf(cell) <= width) return cell
  return typeof cell === 'string' ? cut(cell, width) : { ...cell, text: cut(cell.text, width) }
}

function pad(cell: Text, width: number, align: Column['align'], isLast: boolean): Text {
  const space = ' '.repeat(Math.max(0, width - widthOf(cell)))
  if (align === 'right') return [space, cell]
  return isLast ? cell : [cell, space]
}
