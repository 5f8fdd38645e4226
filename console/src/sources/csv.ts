/** Reads CSV as RFC 4180 defines it, with commas, semicolons or tabs. Throws if a quote is not closed. */
export function parseCsv(text: string): string[][] {
  const separator = separatorOf(text)
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false

  function endRow(): void {
    row.push(cell)
    // A blank line is no row.
    if (row.length > 1 || cell !== '') rows.push(row)
    row = []
    cell = ''
  }

  // A byte order mark is no part of the first name.
  for (let at = text.startsWith('\uFEFF') ? 1 : 0; at < text.length; at++) {
    const character = text[at] as string
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (text[at + 1] === '"') cell += text[++at]
      else isQuoted = false
    } else if (character === '"' && cell === '') isQuoted = true
    else if (character === separator) {
      row.push(cell)
      cell = ''
    } else if (character === '\n') endRow()
    else if (character !== '\r' || text[at + 1] !== '\n') cell += character
  }
  if (isQuoted) throw new Error('A quote is not closed.')
  if (cell !== '' || row.length > 0) endRow()
  return rows
}

/** The one that is most frequent in the first line. */
function separatorOf(text: string): string {
  const [first = ''] = text.split('\n', 1)
  const count = (separator: string) => first.split(separator).length
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best))
}
