import { decode } from './bytes.ts'
import { gitOutput } from './run.ts'

const listTimeoutMs = 5 * 60_000

/** The hashes that `git rev-list` lists, in groups. All are as long as `hash`. */
export async function* listHashes(
  mirror: string,
  args: string[],
  hash: string,
  groupSize: number,
): AsyncGenerator<string[]> {
  const groupBytes = groupSize * (hash.length + 1)
  const linesOf = (bytes: Buffer) => decode(bytes).split('\n').filter(Boolean)
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of gitOutput(['rev-list', ...args, '--'], { mirror, timeoutMs: listTimeoutMs })) {
    rest = Buffer.concat([rest, chunk])
    for (; rest.length >= groupBytes; rest = rest.subarray(groupBytes)) yield linesOf(rest.subarray(0, groupBytes))
  }
  if (rest.length > 0) yield linesOf(rest)
}
