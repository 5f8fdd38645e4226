import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Commit } from './commit.ts'
import { streamCommits, streamListed } from './log.ts'
import { borrowObjects, ensureMirror, isTooLarge, type Mirror, withinSize, withoutFiles } from './mirror.ts'
import { objectBytes } from './object-bytes.ts'
import { listRefs } from './refs.ts'
import { folderArguments, type RemoteAccess, withRemoteAccess } from './remote-access.ts'
import { GitError, GitLimitError, git, gitOutput } from './run.ts'

// Proof of a squash or a rebase needs the head commits of pull requests, but nothing else of their branches. They are kept in a
// repository of their own inside the mirror: commits without parents and files would make the mirror look damaged.

// A commit takes about 0.4 KB. Anyone who opens a pull request decides how long its message is.
const maxTipBytes = 256 * 1024 * 1024
const tipsPerFetch = 10_000
const tipsPerLog = 5_000
const fetchTimeoutMs = 5 * 60_000
// How much a failing server, one that ignores the filter, or hostile commits can cost. The rest is left for the next sync.
const maxFailures = 30
const maxTotalMs = 15 * 60_000
// Of a head that is a merge, the commits that it merges are read too, through so many merges in a row.
const maxTipMerges = 5
/** A longer row of rebased commits is not recognised. */
export const maxRowLength = 250
const branchesPerFetch = 1_000
// Of all branches of one fetch. Each takes about 1 KB of memory.
const maxBranchCommits = 50_000

/**
 * Fetches these commits alone, without their files where the server supports that. Calls `onTip` with each that exists, some of them
 * twice if git fails in between. Returns those that it did not get to.
 */
export async function readPullTips(mirror: Mirror, shas: string[], onTip: (tip: Commit) => void): Promise<string[]> {
  const [first] = shas
  if (first === undefined) return []
  const tips: Mirror = { ...mirror, path: join(mirror.path, 'pull-tips'), sizeLimit: maxTipBytes }
  await ensureTips(tips, first)
  const left = await fetchTips(tips, await missingCommits(tips.path, shas), 1)
  const unread = await inParts(shas, tipsPerLog, async (part) => {
    for await (const tip of streamListed(tips.path, part)) onTip(tip)
  })
  return [...left, ...unread]
}

/** Fetches those of the commits that were not tried in vain before, and returns those that it did not get to. */
async function fetchTips(tips: Mirror, wanted: Set<string>, depth: number): Promise<string[]> {
  for (const sha of await readSkipped(tips.path)) wanted.delete(sha)
  const fetch = async (part: string[]) => {
    // There is no room for more.
    if (!isTooLarge(tips)) await fetchAlone(tips, part, depth)
  }
  return inParts([...wanted], tipsPerFetch, fetch, (sha) => skip(tips.path, sha))
}

/**
 * Reads the commits that these heads merge, as far as the mirror does not have them, and those that are merged by a merge among them. Calls
 * `onParent` with each. Returns the heads that it did not get to.
 */
export async function readMergedTips(
  mirror: Mirror,
  heads: MergingHead[],
  onParent: (head: string, parent: Commit) => void,
  depth = 2,
): Promise<string[]> {
  const outside = await missingCommits(mirror.path, new Set(heads.flatMap(({ parents }) => parents)))
  const [first] = outside
  if (first === undefined) return []
  const tips: Mirror = { ...mirror, path: join(mirror.path, 'pull-tips'), sizeLimit: maxTipBytes }
  await ensureTips(tips, first)
  const unknown = await missingCommits(tips.path, outside)
  const wanted = heads.filter(({ parents }) => parents.some((parent) => unknown.has(parent))).map(({ sha }) => sha)
  const left = await fetchTips(tips, new Set(wanted), depth)
  const parents = new Map<string, Commit>()
  const unread = await inParts([...outside], tipsPerLog, async (part) => {
    for await (const tip of streamListed(tips.path, part)) parents.set(tip.sha, tip)
  })
  const inner: MergingHead[] = []
  for (const { sha, parents: merged } of heads) {
    for (const parent of merged.flatMap((each) => parents.get(each) ?? [])) {
      onParent(sha, parent)
      if (parent.parents.length > 1 && depth <= maxTipMerges) inner.push({ sha, parents: parent.parents })
    }
  }
  const isUnread = new Set(unread)
  const skipped = heads.filter(({ parents }) => parents.some((each) => isUnread.has(each))).map(({ sha }) => sha)
  return [...left, ...skipped, ...(await readMergedTips(mirror, inner, onParent, depth + 1))]
}

/** A head of a pull request, and the parents of a merge at its end. */
type MergingHead = Pick<Commit, 'sha' | 'parents'>

/** The commits of a pull request that the default branch does not contain. */
export interface PullBranch {
  /** The newest first, without merges. Empty if there are more than `maxRowLength`. */
  commits: Commit[]
  /** The commits of the default branch that the branch began at or merged. None if it shares no history with it. */
  bases: string[]
}

/**
 * Calls `onBranch` with the branch of each of these heads, compared with the newest commit of the default branch. Returns the heads that it
 * did not get to.
 */
export async function readPullBranches(
  mirror: Mirror,
  tip: string,
  heads: string[],
  onBranch: (head: string, branch: PullBranch) => void,
): Promise<string[]> {
  const [first] = heads
  if (first === undefined) return []
  const rows: Mirror = { ...mirror, path: join(mirror.path, 'pull-rows'), sizeLimit: maxTipBytes }
  // Left behind if the process was killed.
  await rm(rows.path, { recursive: true, force: true })
  try {
    await ensureMirror(rows, first)
    // The server then sends only what the default branch does not contain.
    await borrowObjects(rows.path, mirror.path)
    return await inParts(heads, branchesPerFetch, async (part) => {
      await fetchAlone(rows, part, null)
      const commits = new Map<string, Commit>()
      for await (const commit of streamCommits(rows.path, [...part, `^${tip}`])) {
        commits.set(commit.sha, commit)
        if (commits.size > maxBranchCommits) throw new GitLimitError('log', 'the branches have too many commits')
      }
      for (const head of part) onBranch(head, branchOf(head, commits))
    })
  } finally {
    await rm(rows.path, { recursive: true, force: true })
  }
}

function branchOf(head: string, commits: ReadonlyMap<string, Commit>): PullBranch {
  const branch = new Set(commits.has(head) ? [head] : [])
  const bases = new Set<string>()
  for (const sha of branch) {
    for (const parent of commits.get(sha)?.parents ?? []) (commits.has(parent) ? branch : bases).add(parent)
  }
  const isLong = branch.size > maxRowLength
  const own = isLong ? [] : [...branch].map((sha) => commits.get(sha) as Commit)
  return { commits: own.filter(({ parents }) => parents.length < 2), bases: [...bases] }
}

async function ensureTips(tips: Mirror, head: string): Promise<void> {
  const settings = await readFile(join(tips.path, 'config'), 'latin1').catch(() => '')
  // The process was killed during a fetch, and git would start a fetch of its own for each missing file.
  if (settings.includes('partialclonefilter')) await rm(tips.path, { recursive: true })
  await ensureMirror(tips, head)
}

// A commit that cannot be fetched on its own exceeds a limit, or is gone. It must not cost as much again with every sync.
const skippedFile = 'skipped'

async function readSkipped(path: string): Promise<string[]> {
  return (await readFile(join(path, skippedFile), 'latin1').catch(() => '')).split('\n')
}

async function skip(path: string, sha: string): Promise<void> {
  await appendFile(join(path, skippedFile), `${sha}\n`)
}

/** Those of the commits that the repository does not have. */
export async function missingCommits(path: string, shas: Iterable<string>): Promise<Set<string>> {
  const all = [...shas]
  if (objectBytes(path) === 0) return new Set(all)
  const missing = new Set<string>()
  if (all.length === 0) return missing
  const options = { mirror: path, input: all.join('\n') }
  let rest = ''
  let count = 0
  // In the order of the input, so that no copy of a hash has to be kept.
  for await (const chunk of gitOutput(['cat-file', '--buffer', '--batch-check=%(objecttype)'], options)) {
    const lines = (rest + chunk.toString('latin1')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const sha = all[count++]
      if (sha !== undefined && line.endsWith(' missing')) missing.add(sha)
    }
  }
  return missing
}

/** The commits that refs of our own keep: see `fetchCommit` and `keepCommit`. */
export async function keptCommits(mirror: string): Promise<string[]> {
  return [...(await listRefs(mirror, 'refs/kept/')).values()]
}

/** Fetches the commits, and as many before each as the depth says: without one, all that the target does not have. */
async function fetchAlone(target: Mirror, shas: string[], depth: number | null): Promise<void> {
  if (isTooLarge(target)) throw tooManyBytes()
  const settings = await readFile(join(target.path, 'config'))
  try {
    // No other process uses the target.
    await withinSize(target, tooManyBytes, 0, (signal) =>
      withRemoteAccess(target.remote, 'fetch', (access) =>
        withoutFiles((filter) =>
          git([...fetchCommand(access, depth), ...filter, '--stdin', 'origin'], {
            mirror: target.path,
            folder: access.folder,
            env: access.env,
            input: `${shas.join('\n')}\n`,
            timeoutMs: fetchTimeoutMs,
            signal,
          }),
        ),
      ),
    )
  } finally {
    // git has noted that the remote has the missing files. It would then start a fetch of its own for each of them.
    await writeFile(join(target.path, 'config'), settings)
    // The boundary would be sent to the server with each fetch, and git would hide the parents of every tip.
    if (depth !== null) await rm(join(target.path, 'shallow'), { force: true })
  }
}

function tooManyBytes(): GitLimitError {
  return new GitLimitError('fetch', `the heads of pull requests exceed ${maxTipBytes} bytes`)
}

function fetchCommand({ url, folder }: RemoteAccess, depth: number | null): string[] {
  return [
    // Marked as a remote that has the missing files, or git would complain about them.
    ...['-c', `remote.origin.url=${url}`, '-c', 'remote.origin.promisor=true'],
    ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--recurse-submodules=no'],
    ...(depth === null ? [] : [`--depth=${depth}`]),
    ...folderArguments(folder, ['uploadpack.allowFilter=true']),
  ]
}

/**
 * Works on the items in parts. A part that fails is split, so that one hostile or missing commit costs no other. Without a
 * connection, everything fails, and the next sync tries again. Returns the items that it did not get to.
 */
async function inParts(
  items: string[],
  size: number,
  work: (part: string[]) => Promise<void>,
  onFailed: (item: string) => Promise<void> = async () => {},
): Promise<string[]> {
  const left: string[] = []
  let failures = 0
  const deadline = performance.now() + maxTotalMs
  const isOver = () => failures > maxFailures || performance.now() > deadline
  const attempt = async (part: string[]): Promise<void> => {
    if (isOver()) {
      left.push(...part)
      return
    }
    try {
      await work(part)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      if (error.failure === 'connection' && !(error instanceof GitLimitError)) throw error
      const [only] = part
      if (part.length === 1 && only !== undefined) await onFailed(only)
      failures++
      if (isOver() || part.length === 1) return
      const half = Math.ceil(part.length / 2)
      await attempt(part.slice(0, half))
      await attempt(part.slice(half))
    }
  }
  for (let start = 0; start < items.length; start += size) await attempt(items.slice(start, start + size))
  return left
}
