import { collectPullNumbers } from './pull-numbers.ts'
import { headIn, type RemoteHead } from './remote.ts'
import { type Remote, withRemoteAccess } from './remote-access.ts'
import { gitOutput, withinLimit } from './run.ts'

/** The pull request heads that a remote publishes. */
export interface PullRefs {
  readonly count: number
  /** Whether no ref was left out because of a limit. */
  readonly isComplete: boolean
  /** Whether the commit is the head of a pull request. */
  isPullHead(sha: string): boolean
  /** The pull requests with this head, in ascending order. */
  numbersOf(sha: string): readonly number[]
  headOf(number: number): string | null
  numbers(): Iterable<number>
}

// The largest public repositories have about 300,000 pull requests. Each takes about 150 bytes of memory, and less if they share their heads.
const maxRefs = 500_000
// git sends the refs of all branches and tags too, but prints only those that match.
const maxOutputBytes = 64 * 1024 * 1024
const maxLineBytes = 1_000
// HEAD comes first.
const maxHeadBytes = 16 * 1024
const timeoutMs = 2 * 60_000

/**
 * Lists the pull request heads and the default branch with one `ls-remote`, to which the server sends all refs in any case. In the pattern,
 * such as `refs/pull/*\/head`, `*` stands for the number. Refs beyond the limits are left out; `head` is null if all are.
 */
export async function readRefs(remote: Remote, pattern: string): Promise<{ head: RemoteHead | null; pulls: PullRefs }> {
  let beginning = ''
  const heads = new Map<number, string>()
  const numbers = collectPullNumbers()
  const [before = '', after = ''] = pattern.split('*').map(RegExp.escape)
  const pullHead = new RegExp(`^([0-9a-f]{40,64})\t${before}([1-9]\\d{0,9})${after}$`, 'gm')
  const add = (number: number, sha: string) => {
    if (heads.has(number)) return
    heads.set(number, sha)
    numbers.add(sha, number)
  }
  const read = async () =>
    withRemoteAccess(remote, 'ls-remote', async ({ url, env }) => {
      const args = ['ls-remote', '--quiet', '--symref', '--end-of-options', url, 'HEAD', pattern]
      let bytes = 0
      let newest = ''
      for await (const lines of linesOf(gitOutput(args, { env, timeoutMs, listsRefs: true }))) {
        beginning += lines.slice(0, maxHeadBytes - beginning.length)
        bytes += lines.length
        if (bytes > maxOutputBytes) return false
        for (const [, sha = '', number] of lines.matchAll(pullHead)) {
          if (heads.size >= maxRefs) return false
          // A copy, because a part of the output would keep all of it in memory.
          if (sha !== newest) newest = Buffer.from(sha, 'latin1').toString('latin1')
          add(Number(number), newest)
        }
      }
      return true
    })
  const isComplete = await withinLimit(read(), () => false)
  const { has, of } = numbers.finish()
  const pulls: PullRefs = {
    count: heads.size,
    isComplete,
    isPullHead: has,
    numbersOf: of,
    headOf: (number) => heads.get(number) ?? null,
    numbers: () => heads.keys(),
  }
  // Otherwise the repository would seem to be empty.
  const isRead = isComplete || beginning !== ''
  return { head: isRead ? headIn(Buffer.from(beginning, 'latin1').toString('utf8')) : null, pulls }
}

export async function readPullRefs(remote: Remote, pattern: string): Promise<PullRefs> {
  return (await readRefs(remote, pattern)).pulls
}

/** Lists them when they are first needed, and once, unless they are `known`. */
export function lazyPullRefs(remote: Remote, pattern: string, known: PullRefs | null = null): () => Promise<PullRefs> {
  let refs = known === null ? null : Promise.resolve(known)
  return () => {
    refs ??= readPullRefs(remote, pattern)
    return refs
  }
}

/** Yields the lines that each chunk completes, as one text. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    const text = rest + chunk.toString('latin1')
    const end = text.lastIndexOf('\n') + 1
    rest = text.slice(end, end + maxLineBytes)
    yield text.slice(0, end)
  }
}
