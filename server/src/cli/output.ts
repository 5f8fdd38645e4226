import type { Command } from 'commander'
import { replaceHidden } from '../domain/hidden-text.ts'

/** Prints `value` as JSON if --json was given, else `text`. */
export function print(command: Command, value: unknown, text: string): void {
  const json = command.optsWithGlobals().json === true
  process.stdout.write(`${json ? visibleJson(value) : visible(text)}\n`)
}

/** On stderr, so that the output stays usable by programs. */
export function printWarnings(warnings: string[]): void {
  for (const warning of warnings) process.stderr.write(`Warning: ${visibleLine(warning)}\n`)
}

/**
 * Escapes control characters, which could drive the terminal, and hidden ones, which could disguise text. Keeps line breaks
 * and tabs.
 */
export function visible(text: string): string {
  return replaceHidden(text, escapeCharacters).replaceAll(/[\r\f\u2028\u2029]/g, escapeCharacters)
}

/** Like `visible`, for text that takes one line. A line break in it could otherwise fake another line of output. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll(/[\n\t]/g, escapeCharacters)
}

/** Escapes the same characters in JSON, whose value stays the same. */
export function visibleJson(value: unknown): string {
  return replaceHidden(JSON.stringify(value), (characters) =>
    characters
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

function escapeCharacters(characters: string): string {
  return [...characters].map((character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join('')
}

/** Aligns rows in columns, under the keys of the first row. Without rows, returns `emptyText`. */
export function table(rows: Record<string, string | number | null>[], emptyText: string): string {
  const [first] = rows
  if (first === undefined) return emptyText
  const lines = [
    Object.keys(first),
    ...rows.map((row) => Object.values(row).map((cell) => visibleLine(String(cell ?? '-')))),
  ]
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

/** An integer with separators. Not by `toLocaleString`, whose first call takes 10 ms: the help has numbers, so every start would wait. */
export function formatNumber(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Such as `1 signal` or `1,000 signals`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatNumber(count)} ${count === 1 ? singular : plural}`
}

/** Such as `1,000 signals a month`. Null for no limit. */
export function formatLimit(limit: number | null): string {
  return limit === null ? 'unlimited signals' : `${formatCount(limit, 'signal')} a month`
}
