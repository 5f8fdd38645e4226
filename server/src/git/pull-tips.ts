import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decode } from './bytes.ts'
import type { Commit } from './commit.ts'
import { readCommits, streamCommits } from './log.ts'
import { ensureMirror, isTooLarge, type Mirror } from './mirror.ts'
import { type Remote, withRemoteAccess } from './remote-access.ts'
import { GitError, GitLimitError, git } from './run.ts'

// Proof of a squash or a rebase needs the head commits of pull requests, but nothing else of their branches. They are kept in a
// repository of their own inside the mirror: commits without parents and files would make the mirror look damaged.

// A commit takes about 0.4 KB. Anyone who opens a pull request decides how long its message is.
const maxTipBytes = 256 * 1024 * 1024
const maxTips = 300_000
const tipsPerFetch = 10_000
const tipsPerLog = 500
const fetchTimeoutMs = 5 * 60_000
/** How much a failing server, or hostile commits, can cost: each failed git command counts. */
const maxFailures = 60
/** A longer row of rebased commits is not recognised. */
export const maxRowLength = 250
// With commits that have merged the default branch, each can bring some thousand more.
const rowsPerFetch = 20

/** Fetches these commits alone, without their files where the server supports that. Calls `onTip` with each that exists. */
export async function readPullTips(mirror: Mirror, shas: string[], onTip: (tip: Commit) => void): Promise<void> {
  const [first] = shas
  if (first === undefined) return
  const tips: Mirror = { ...mirror, path: join(mirror.path, 'pull-tips'), sizeLimit: maxTipBytes }
  await ensureMirror(tips, first)
  const wanted = await missingCommits(tips.path, shas.slice(0, maxTips))
  await inParts([...wanted], tipsPerFetch, (part) => fetchAlone(tips, part, 1))
  const missing = await missingCommits(tips.path, shas)
  const found = shas.filter((sha) => !missing.has(sha))
  await inParts(found, tipsPerLog, async (part) => {
    for (const tip of await readCommits(tips.path, ['--no-walk=unsorted', ...part])) onTip(tip)
  })
}

/** Calls `onRow` with the newest commits of each branch, newest first: at most one more than a row may have. */
export async function readPullRows(
  mirror: Mirror,
  heads: string[],
  onRow: (head: string, row: Commit[]) => void,
): Promise<void> {
  const [first] = heads
  if (first === undefined) return
  const folder = await mkdtemp(join(mirror.path, 'pull-rows-'))
  try {
    const rows: Mirror = { ...mirror, path: join(folder, 'git'), sizeLimit: maxTipBytes }
    await ensureMirror(rows, first)
    await inParts(heads, rowsPerFetch, async (part) => {
      await fetchAlone(rows, part, maxRowLength + 1)
      const commits = new Map<string, Commit>()
      for await (const commit of streamCommits(rows.path, part)) commits.set(commit.sha, commit)
      for (const head of part) onRow(head, [...firstParents(commits, head)])
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function* firstParents(commits: Map<string, Commit>, head: string): Generator<Commit> {
  for (let commit = commits.get(head); commit !== undefined; commit = commits.get(commit.parents[0] ?? '')) yield commit
}

/** Those of the commits that the repository does not have. */
export async function missingCommits(path: string, shas: Iterable<string>): Promise<Set<string>> {
  const input = [...shas].join('\n')
  if (input === '') return new Set()
  const listed = decode(await git(['cat-file', '--buffer', '--batch-check=%(objecttype)'], { mirror: path, input }))
  return new Set(listed.split('\n').flatMap((line) => (line.endsWith(' missing') ? line.slice(0, -8) : [])))
}

/** The commits that refs of our own keep: see `fetchCommit` and `keepCommit`. */
export async function keptCommits(mirror: string): Promise<string[]> {
  const listed = decode(await git(['for-each-ref', '--format=%(objectname)', 'refs/kept/'], { mirror }))
  return listed.split('\n').filter(Boolean)
}

/** Fetches the commits, and as many before each as the depth says. */
async function fetchAlone(target: Mirror, shas: string[], depth: number): Promise<void> {
  if (await isTooLarge(target))
    throw new GitLimitError('fetch', `the heads of pull requests exceed ${maxTipBytes} bytes`)
  const settings = await readFile(join(target.path, 'config'))
  const tooLarge = new AbortController()
  const sizeCheck = setInterval(async () => {
    // A temporary file can disappear during the check. The next check sees the rest.
    if (await isTooLarge(target).catch(() => false)) tooLarge.abort()
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
  } finally {
    clearInterval(sizeCheck)
    // git has noted that the remote has the missing files. It would then start a fetch of its own for each of them.
    await writeFile(join(target.path, 'config'), settings)
    // The boundary would be sent to the server with each fetch, and git would hide the parents of every tip.
    if (depth === 1) await rm(join(target.path, 'shallow'), { force: true })
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
async function inParts(items: string[], size: number, work: (part: string[]) => Promise<void>): Promise<void> {
  let failures = 0
  const attempt = async (part: string[]): Promise<void> => {
    try {
      await work(part)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      if (error.failure === 'connection' && !(error instanceof GitLimitError)) throw error
      if (++failures > maxFailures || part.length === 1) return
      const half = Math.ceil(part.length / 2)
      await attempt(part.slice(0, half))
      await attempt(part.slice(half))
    }
  }
  for (let start = 0; start < items.length && failures <= maxFailures; start += size) {
    await attempt(items.slice(start, start + size))
  }
}
