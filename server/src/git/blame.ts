import { decode } from './bytes.ts'
import { gitOutput } from './run.ts'

/** Lines of a file that one commit changed last. Lines count from 1, and `end` is the last of them. */
interface BlamedLines {
  start: number
  end: number
  commit: string
}

const timeoutMs = 10_000
const maxLineBytes = 100_000

/**
 * The commits on the line of the default branch that last changed the lines of a file, in the order of the lines. The lines of a
 * pull request belong to the commit that brought it. Follows renames.
 */
export async function readBlame(mirror: string, commit: string, path: string): Promise<BlamedLines[]> {
  const args = ['blame', '--first-parent', '--incremental', '--no-textconv', '--encoding=none', commit, '--', path]
  const lines: BlamedLines[] = []
  for await (const line of splitLines(gitOutput(args, { mirror, timeoutMs }))) {
    // Every other line starts with the name of a header.
    const group = /^([0-9a-f]{40}|[0-9a-f]{64}) \d+ (\d+) (\d+)$/.exec(line)
    if (group === null) continue
    const [, sha = '', start, count] = group
    lines.push({ start: Number(start), end: Number(start) + Number(count) - 1, commit: sha })
  }
  return lines.sort((a, b) => a.start - b.start)
}

/** Cuts long lines, which are headers with untrusted text. */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    const parts = (rest + decode(chunk)).split('\n')
    rest = (parts.pop() as string).slice(0, maxLineBytes)
    yield* parts
  }
}
