import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decode } from './bytes.ts'
import type { Commit } from './commit.ts'
import { readCommits, streamCommits } from './log.ts'
import { ensureMirror, isTooLarge, type Mirror } from './mirror.ts'
import { type Remote, withRemoteAccess } from './remote-access.ts'
import { GitError, GitLimitError, git, gitOutput } from './run.ts'

// Proof of a squash or a rebase needs the head commits of pull requests, but nothing else of their branches. They are kept in a
// repository of their own inside the mirror: commits without parents and files would make the mirror look damaged.

// A commit takes about 0.4 KB. Anyone who opens a pull request decides how long its message is.
const maxTipBytes = 256 * 1024 * 1024
const maxTips = 300_000
const tipsPerFetch = 10_000
const tipsPerLog = 500
const fetchTimeoutMs = 5 * 60_000
// How much a failing server, one that ignores the filter, or hostile commits can cost. The rest stays unproven.
const maxFailures = 30
const maxTotalMs = 15 * 60_000
/** Of a head that is a merge, the commits that it merges are read too. */
const maxTipDepth = 2
/** A longer row of rebased commits is not recognised. */
export const maxRowLength = 250
// A branch that has merged the default branch brings thousands of commits.
const rowsPerFetch = 50

/** Fetches these commits alone, without their files where the server supports that. Calls `onTip` with each that exists. */
export async function readPullTips(mirror: Mirror, shas: string[], onTip: (tip: Commit) => void): Promise<void> {
  const [first] = shas
  if (first === undefined) return
  const tips: Mirror = { ...mirror, path: join(mirror.path, 'pull-tips'), sizeLimit: maxTipBytes }
  await ensureTips(tips, first)
  const wanted = await missingCommits(tips.path, shas.slice(0, maxTips))
  for (const sha of await readSkipped(tips.path)) wanted.delete(sha)
  await inParts(
    [...wanted],
    tipsPerFetch,
    (part) => fetchAlone(tips, part, 1),
    (sha) => skip(tips.path, sha),
  )
  const missing = await missingCommits(tips.path, shas)
  const found = shas.filter((sha) => !missing.has(sha))
  await inParts(found, tipsPerLog, async (part) => {
    for (const tip of await readCommits(tips.path, ['--no-walk=unsorted', ...part])) onTip(tip)
  })
}

/** Reads the commits that these heads merge, as far as the mirror does not have them. Calls `onParent` with each. */
export async function readMergedTips(
  mirror: Mirror,
  heads: Pick<Commit, 'sha' | 'parents'>[],
  onParent: (head: string, parent: Commit) => void,
): Promise<void> {
  const outside = await missingCommits(mirror.path, new Set(heads.flatMap(({ parents }) => parents)))
  const [first] = outside
  if (first === undefined) return
  const tips: Mirror = { ...mirror, path: join(mirror.path, 'pull-tips'), sizeLimit: maxTipBytes }
  await ensureTips(tips, first)
  const unknown = await missingCommits(tips.path, outside)
  const wanted = new Set(
    heads.filter(({ parents }) => parents.some((parent) => unknown.has(parent))).map(({ sha }) => sha),
  )
  for (const sha of await readSkipped(tips.path)) wanted.delete(sha)
  await inParts(
    [...wanted],
    tipsPerFetch,
    (part) => fetchAlone(tips, part, maxTipDepth),
    (sha) => skip(tips.path, sha),
  )
  const missing = await missingCommits(tips.path, outside)
  const parents = new Map<string, Commit>()
  await inParts([...outside.difference(missing)], tipsPerLog, async (part) => {
    for (const tip of await readCommits(tips.path, ['--no-walk=unsorted', ...part])) parents.set(tip.sha, tip)
  })
  for (const { sha, parents: merged } of heads) {
    for (const parent of merged.flatMap((each) => parents.get(each) ?? [])) onParent(sha, parent)
  }
}

/**
 * Calls `onRow` with the commits of each branch that the mirror does not have, the newest first and without merges. Branches with
 * more than `maxRowLength` are left out.
 */
export async function readPullRows(
  mirror: Mirror,
  heads: string[],
  onRow: (head: string, row: Commit[]) => void,
): Promise<void> {
  const [first] = heads
  if (first === undefined) return
  const rows: Mirror = { ...mirror, path: join(mirror.path, 'pull-rows'), sizeLimit: maxTipBytes }
  // Left behind if the process was killed.
  await rm(rows.path, { recursive: true, force: true })
  try {
    await ensureMirror(rows, first)
    await inParts(heads, rowsPerFetch, async (part) => {
      await fetchAlone(rows, part, maxRowLength + 1)
      const commits = new Map<string, Commit>()
      for await (const commit of streamCommits(rows.path, part)) commits.set(commit.sha, commit)
      const outside = await missingCommits(mirror.path, commits.keys())
      for (const head of part) {
        const row = rowOf(head, commits, outside)
        if (row !== null) onRow(head, row)
      }
    })
  } finally {
    await rm(rows.path, { recursive: true, force: true })
  }
}

function rowOf(head: string, commits: ReadonlyMap<string, Commit>, outside: ReadonlySet<string>): Commit[] | null {
  const branch = new Set(outside.has(head) ? [head] : [])
  for (const sha of branch) {
    for (const parent of commits.get(sha)?.parents ?? []) if (outside.has(parent)) branch.add(parent)
    if (branch.size > maxRowLength) return null
  }
  return [...branch].map((sha) => commits.get(sha) as Commit).filter(({ parents }) => parents.length < 2)
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
  const listed = decode(await git(['for-each-ref', '--format=%(objectname)', 'refs/kept/'], { mirror }))
  return listed.split('\n').filter(Boolean)
}

/** Fetches the commits, and as many before each as the depth says. */
async function fetchAlone(target: Mirror, shas: string[], depth: number): Promise<void> {
  if (isTooLarge(target)) throw tooManyBytes()
  const settings = await readFile(join(target.path, 'config'))
  const tooLarge = new AbortController()
  const sizeCheck = setInterval(() => {
    if (isTooLarge(target)) tooLarge.abort()
  }, 500)
  try {
    await withRemoteAccess(target.remote, 'fetch', ({ url, env }) =>
      git([...fetchCommand(url, target.remote, depth), '--stdin', 'origin'], {
        mirror: target.path,
        env,
        input: `${shas.join('\n')}\n`,
        timeoutMs: fetchTimeoutMs,
        signal: tooLarge.signal,
      }),
    )
  } catch (error) {
    await removeUnfinished(target.path)
    if (tooLarge.signal.aborted) throw tooManyBytes()
    throw error
  } finally {
    clearInterval(sizeCheck)
    // git has noted that the remote has the missing files. It would then start a fetch of its own for each of them.
    await writeFile(join(target.path, 'config'), settings)
    // The boundary would be sent to the server with each fetch, and git would hide the parents of every tip.
    if (depth <= maxTipDepth) await rm(join(target.path, 'shallow'), { force: true })
  }
}

function tooManyBytes(): GitLimitError {
  return new GitLimitError('fetch', `the heads of pull requests exceed ${maxTipBytes} bytes`)
}

/** Removes what a killed git left: its locks would stop the next fetch, and its files would count. */
async function removeUnfinished(path: string): Promise<void> {
  for (const folder of [path, join(path, 'objects'), join(path, 'objects', 'pack')]) {
    const files = (await readdir(folder)).filter((file) => file.endsWith('.lock') || file.startsWith('tmp_'))
    for (const file of files) await rm(join(folder, file), { recursive: true, force: true })
  }
}

function fetchCommand(url: string, { allowLocal }: Remote, depth: number): string[] {
  return [
    // Marked as a remote that has the missing files, or git would complain about them.
    ...['-c', `remote.origin.url=${url}`, '-c', 'remote.origin.promisor=true'],
    ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--recurse-submodules=no'],
    ...[`--depth=${depth}`, '--filter=tree:0'],
    ...(allowLocal ? ['--upload-pack=git -c uploadpack.allowFilter=true upload-pack'] : []),
  ]
}

/**
 * Works on the items in parts. A part that fails is split, so that one hostile or missing commit costs no other. Without a
 * connection, everything fails, and the next sync tries again.
 */
async function inParts(
  items: string[],
  size: number,
  work: (part: string[]) => Promise<void>,
  onFailed: (item: string) => Promise<void> = async () => {},
): Promise<void> {
  let failures = 0
  const deadline = performance.now() + maxTotalMs
  const isOver = () => failures > maxFailures || performance.now() > deadline
  const attempt = async (part: string[]): Promise<void> => {
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
  for (let start = 0; start < items.length && !isOver(); start += size) {
    await attempt(items.slice(start, start + size))
  }
}
