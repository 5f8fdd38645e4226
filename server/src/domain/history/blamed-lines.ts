import type { Blame } from '../repositories/repository-service.ts'
import type { EntryDetails } from './entry.ts'

/** Lines that one change brought. Lines count from 1, and `end` is the last of them. */
export interface LineRange {
  start: number
  end: number
  /** Null if no entry of the prompt brought the commit. */
  entry: EntryDetails | null
  commitSha: string
}

/** The lines by entry instead of by commit: a pull request can bring several. */
export function rangesOf(lines: Blame['lines'], entries: ReadonlyMap<string, EntryDetails>): LineRange[] {
  const ranges: LineRange[] = []
  for (const { start, end, commit } of lines) {
    const entry = entries.get(commit) ?? null
    const commitSha = entry?.commitSha ?? commit
    const last = ranges.at(-1)
    if (last !== undefined && last.end + 1 === start && last.commitSha === commitSha) last.end = end
    else ranges.push({ start, end, entry, commitSha })
  }
  return ranges
}
