import { markHidden } from '../domain/hidden-text.ts'

/** Untrusted text as one printable line: line breaks become spaces, hidden characters become visible. */
export function line(text: string, maxLength: number): string {
  // Cut first, so that no time is spent on text that is not shown.
  const shown = markHidden(text.slice(0, 4 * maxLength).replaceAll(/[\s\p{Zl}\p{Zp}]+/gu, ' '))
  return cut(shown.trim().toWellFormed(), maxLength)
}

/** Cuts a text to a length, and never between the halves of a character. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** As many of the first lines as fit into a text of this length. */
export function fitting(lines: readonly string[], maxLength: number): string[] {
  const shown: string[] = []
  let length = 0
  for (const each of lines) {
    length += each.length + 1
    if (length > maxLength) break
    shown.push(each)
  }
  return shown
}
