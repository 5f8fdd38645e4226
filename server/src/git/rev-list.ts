import { decode } from './bytes.ts'
import { git, gitOutput } from './run.ts'

const listTimeoutMs = 5 * 60_000

/** As arguments of `rev-list` and `log`: the commits that `to` contains and `from` does not. */
export function revisions(from: string | null, to: string): string[] {
  return from === null ? [to] : [to, `^${from}`]
}

/** The lines that `git rev-list` prints, for lists that are short enough for memory. */
export async function revList(mirror: string, args: string[]): Promise<string[]> {
  return decode(await git(['rev-list', ...args, '--'], { mirror }))
    .split('\n')
    .filter(Boolean)
}

/** The hashes that `git rev-list` lists, in groups. All are as long as `hash`. See `readAhead` for `bytesAhead`. */
export async function* listHashes(
  mirror: string,
  args: string[],
  hash: string,
  groupSize: number,
  bytesAhead = 0,
): AsyncGenerator<string[]> {
  const groupBytes = groupSize * (hash.length + 1)
  const linesOf = (bytes: Buffer) => decode(bytes).split('\n').filter(Boolean)
  let rest: Buffer = Buffer.alloc(0)
  const output = gitOutput(['rev-list', ...args, '--'], { mirror, timeoutMs: listTimeoutMs })
  for await (const chunk of readAhead(output, bytesAhead)) {
    rest = Buffer.concat([rest, chunk])
    for (; rest.length >= groupBytes; rest = rest.subarray(groupBytes)) yield linesOf(rest.subarray(0, groupBytes))
  }
  if (rest.length > 0) yield linesOf(rest)
}

/** Reads so many bytes before the first is used. Most lists are shorter: git then ends, and needs no memory while they are used. */
async function* readAhead(chunks: AsyncGenerator<Buffer>, bytesAhead: number): AsyncGenerator<Buffer> {
  try {
    const ahead: Buffer[] = []
    for (let bytes = 0; bytes < bytesAhead; bytes += ahead.at(-1)?.length ?? 0) {
      const next = await chunks.next()
      if (next.done) break
      ahead.push(next.value)
    }
    yield* ahead
    yield* chunks
  } finally {
    await chunks.return(undefined)
  }
}
