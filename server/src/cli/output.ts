import type { Command } from 'commander'

/** Prints `value` as JSON if --json was given, else `text`. */
export function print(command: Command, value: unknown, text: string): void {
  const json = command.optsWithGlobals().json === true
  process.stdout.write(`${json ? JSON.stringify(value) : text}\n`)
}

/** Aligns rows in columns, under the keys of the first row. Without rows, returns `emptyText`. */
export function table(rows: Record<string, string | number | null>[], emptyText: string): string {
  const [first] = rows
  if (first === undefined) return emptyText
  const lines = [Object.keys(first), ...rows.map((row) => Object.values(row).map((cell) => String(cell ?? '-')))]
  const widths = Object.keys(first).map((_, i) => Math.max(...lines.map((cells) => cells[i]?.length ?? 0)))
  return lines
    .map((cells) =>
      cells
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export function formatNumber(number: number): string {
  return number.toLocaleString('en')
}

/** Such as `1 signal` or `1,000 signals`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatNumber(count)} ${count === 1 ? singular : plural}`
}
