import type { Command } from 'commander'

/** Prints one JSON value for programs, or text for people. */
export function print(command: Command, value: unknown, text: string): void {
  const json = command.optsWithGlobals().json === true
  process.stdout.write(`${json ? JSON.stringify(value) : text}\n`)
}

/** Rows in columns as wide as their widest cell, or a sentence where there are none. */
export function table(rows: Record<string, string | number | null>[], none: string): string {
  const [first] = rows
  if (first === undefined) return none
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
