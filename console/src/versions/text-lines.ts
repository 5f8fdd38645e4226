import { frontMatterLines } from './prompt-syntax.ts'

/** More rows than this at once would make the page slow. */
export const linesPerPage = 500

/** The longest part of a line that is shown. */
const maxLineLength = 5_000

export interface TextLine {
  number: number
  text: string
  /** How many characters of the line are left out. */
  cut: number
  /** It is part of the settings before the prompt. */
  isFrontMatter: boolean
}

/** The number of lines. A line break at the end starts no line of its own. */
export function countLines(text: string): number {
  if (text === '') return 0
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < text.length - 1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Some lines of a text, from line `first` on. Scans without splitting the text: it may have millions of lines. */
export function linesFrom(text: string, first: number, count: number): TextLine[] {
  const lines: TextLine[] = []
  const frontMatter = frontMatterLines(text)
  let start = 0
  for (let number = 1; start < text.length && lines.length < count; number++) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    if (number >= first) lines.push({ number, isFrontMatter: number <= frontMatter, ...partOf(text, start, end) })
    start = end + 1
  }
  return lines
}

/** The part of a line that is shown. */
function partOf(text: string, start: number, end: number): Pick<TextLine, 'text' | 'cut'> {
  const length = end - start
  if (length <= maxLineLength) return { text: text.slice(start, end), cut: 0 }
  // Not between the two halves of a character.
  const isSplit = text.charCodeAt(start + maxLineLength - 1) >>> 10 === 0xd800 >>> 10
  const shown = maxLineLength - (isSplit ? 1 : 0)
  return { text: text.slice(start, start + shown), cut: length - shown }
}
