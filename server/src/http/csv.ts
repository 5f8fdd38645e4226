const needsQuotes = /[",\r\n]/
// A spreadsheet would run a cell that starts like this as a formula.
const formula = /^[=+\-@\t\r]/

/** One line of CSV (RFC 4180), safe to open in a spreadsheet. */
export function csvLine(cells: (string | number | null)[]): string {
  return `${cells.map(cell).join(',')}\r\n`
}

function cell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = formula.test(value) ? `'${value}` : value
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
