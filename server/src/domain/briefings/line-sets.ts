// Lines are compared as sets: a line that only moves is not changed, and texts of any size take linear time.

/** The numbers of the lines of `before`, from 1, that `after` no longer has. */
export function removedLines(before: string, after: string): number[] {
  const left = new Map<string, number>()
  for (const line of linesOf(after)) left.set(line, (left.get(line) ?? 0) + 1)
  return linesOf(before).flatMap((line, i) => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count > 0 ? [] : [i + 1]
  })
}

/** Rules, fences and brackets are in every text. */
function hasWords(line: string): boolean {
  return (line.slice(0, 200).match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= 3
}

/** The lines with words that `after` has and `before` has not, whatever their indentation. */
export function addedLines(before: string, after: string): Set<string> {
  const known = new Set(linesOf(before).map((line) => line.trim()))
  const lines = linesOf(after).map((line) => line.trim())
  return new Set(lines.filter((line) => !known.has(line) && hasWords(line)))
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
