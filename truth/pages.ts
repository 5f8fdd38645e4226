import type { Heads } from './heads.ts'
import type { LineCommit } from './line.ts'

/** The pull request of each commit whose message has the URL of one of this repository. */
export type Pages = Map<string, { numbers: number[]; isSure: boolean }>

const dayMs = 86_400_000

/**
 * Reads the URLs of the repository itself: `host/owner/project`. People mistype numbers: if the newest commit of a row with the same
 * URL is the head of other pull requests, it is one of these. Rows with the same number that are days apart contradict each other.
 */
export function findPages(line: LineCommit[], heads: Heads, repository: string | null, forge: string): Pages {
  const pages: Pages = new Map()
  const rows: LineCommit[][] = []
  const pageOf = ({ page }: LineCommit) => {
    const isOwn = page !== null && page.repository === repository && (page.isTrailer || forge === 'gitlab')
    return isOwn ? page.number : null
  }
  for (const [at, commit] of line.entries()) {
    const number = pageOf(commit)
    if (number === null) continue
    const before = line[at - 1]
    const continues = before !== undefined && pageOf(before) === number && commit.others.length === 0
    if (continues) rows.at(-1)?.push(commit)
    else rows.push([commit])
  }
  const numbersOf = (row: LineCommit[]) => {
    const [number, own] = [pageOf(row[0] as LineCommit) as number, heads.numbersOf.get(row.at(-1)?.sha ?? '') ?? []]
    return own.length === 0 || own.includes(number) ? [number] : own
  }
  for (const row of rows) {
    const numbers = numbersOf(row)
    const at = row[0]?.committedAt ?? 0
    const isFar = (other: LineCommit[]) => Math.abs((other[0]?.committedAt ?? 0) - at) > dayMs
    const isSure = !rows.some((other) => isFar(other) && numbersOf(other).some((each) => numbers.includes(each)))
    for (const { sha } of row) pages.set(sha, { numbers, isSure })
  }
  return pages
}
