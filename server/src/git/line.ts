import { decode } from './bytes.ts'
import { gitOutput } from './run.ts'

const listTimeoutMs = 5 * 60_000
const groupSize = 1_000

/** The commits that the default branch went through, newest first, in groups. */
export async function* listLine(mirror: string, tip: string): AsyncGenerator<string[]> {
  const args = ['rev-list', '--first-parent', tip, '--']
  const groupBytes = groupSize * (tip.length + 1)
  const linesOf = (bytes: Buffer) => decode(bytes).split('\n').filter(Boolean)
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of gitOutput(args, { mirror, timeoutMs: listTimeoutMs })) {
    rest = Buffer.concat([rest, chunk])
    for (; rest.length >= groupBytes; rest = rest.subarray(groupBytes)) yield linesOf(rest.subarray(0, groupBytes))
  }
  if (rest.length > 0) yield linesOf(rest)
}
