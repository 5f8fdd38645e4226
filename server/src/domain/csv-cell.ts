// A spreadsheet may skip these before a formula, or a tool may that reads the file first.
const ignored = /^[\p{White_Space}\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]*/u
const formula = /^[=+\-−@\t\r\n]/
const guard = "'"

/**
 * Whether a spreadsheet could take the text of a cell for a formula, in any width and after any white space. A text that already has a
 * quote before it counts too, so that `readCell` knows which quotes are ours.
 */
function isRisky(text: string): boolean {
  const own = text.replace(/^'+/, '')
  const start = own.replace(ignored, '')
  const first = String.fromCodePoint(start.codePointAt(0) ?? 0x20).normalize('NFKC')
  return formula.test(own) || formula.test(first)
}

/** The text of a cell of CSV, with a quote before it that keeps spreadsheets from running it as a formula. */
export function writeCell(text: string): string {
  return isRisky(text) ? guard + text : text
}

/** The text that `writeCell` was given. */
export function readCell(text: string): string {
  return text.startsWith(guard) && isRisky(text) ? text.slice(guard.length) : text
}
