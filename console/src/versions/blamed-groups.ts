import type { BlamedLines } from '@promptledger/client'
import type { TextLine } from './text-lines.ts'

export interface BlamedGroup {
  range: BlamedLines
  lines: TextLine[]
}

/** The shown lines by the range that they belong to. Both are in order, and ranges have no gaps. */
export function blamedGroups(lines: TextLine[], ranges: BlamedLines[]): BlamedGroup[] {
  const groups: BlamedGroup[] = []
  let at = 0
  for (const line of lines) {
    while (at < ranges.length - 1 && (ranges[at]?.end ?? 0) < line.number) at++
    const range = ranges[at]
    if (range === undefined) break
    const last = groups.at(-1)
    if (last?.range === range) last.lines.push(line)
    else groups.push({ range, lines: [line] })
  }
  return groups
}
