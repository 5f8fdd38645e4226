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

// The largest public repositories have about 300,000 pull requests. Each takes about 150 bytes of memory.
const maxRefs = 500_000
// git sends the refs of all branches and tags too, but prints only those that match.
const maxOutputBytes = 64 * 1024 * 1024
const maxLineBytes = 1_000
const timeoutMs = 2 * 60_000

/**
 * Lists the pull request heads with one `ls-remote`. In the pattern, such as `refs/pull/*\/head`, `*` stands for the number.
 * Refs beyond the limits are left out.
 */
export async function readPullRefs(remote: Remote, pattern: string): Promise<PullRefs> {
  const heads = new Map<number, string>()
  const [before = '', after = ''] = pattern.split('*')
  let isComplete = true
  const read = async () => {
    await withRemoteAccess(remote, 'ls-remote', async ({ url, env }) => {
      const args = ['ls-remote', '--quiet', '--refs', '--end-of-options', url, pattern]
      let bytes = 0
      for await (const line of linesOf(gitOutput(args, { env, timeoutMs }))) {
        bytes += line.length + 1
        isComplete = heads.size < maxRefs && bytes <= maxOutputBytes
        if (!isComplete) break
        const [sha = '', ref = ''] = line.split('\t')
        if (!ref.startsWith(before) || !ref.endsWith(after)) continue
        const number = ref.slice(before.length, ref.length - after.length)
        if (/^[1-9]\d{0,9}$/.test(number) && /^[0-9a-f]{40,64}$/.test(sha)) heads.set(Number(number), sha)
      }
    })
  }
  await withinLimit(read(), () => {
    isComplete = false
  })
  return pullRefsOf(heads, isComplete)
}

/** Lists them when they are first needed, and once. */
export function lazyPullRefs(remote: Remote, pattern: string): () => Promise<PullRefs> {
  let refs: Promise<PullRefs> | null = null
  return () => {
    refs ??= readPullRefs(remote, pattern)
    return refs
  }
}

function pullRefsOf(heads: ReadonlyMap<number, string>, isComplete: boolean): PullRefs {
  // A number, or a list for the few heads that several pull requests share.
  const numbers = new Map<string, number | number[]>()
  for (const [number, sha] of heads) {
    const others = numbers.get(sha)
    numbers.set(sha, others === undefined ? number : [others, number].flat().sort((a, b) => a - b))
  }
  return {
    count: heads.size,
    isComplete,
    isPullHead: (sha) => numbers.has(sha),
    numbersOf: (sha) => [numbers.get(sha) ?? []].flat(),
    headOf: (number) => heads.get(number) ?? null,
    numbers: () => heads.keys(),
  }
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + chunk.toString('latin1')).split('\n')
    rest = (lines.pop() ?? '').slice(0, maxLineBytes)
    yield* lines
  }
}
