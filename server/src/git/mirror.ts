import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { decode } from './bytes.ts'
import { type Remote, remoteEnvironment } from './remote.ts'
import { GitError, git } from './run.ts'

/** A bare copy of the remote's default branch, and of the pull requests that were looked at. It can always be made anew. */
export interface Mirror {
  path: string
  remote: Remote
  /** The most bytes it may take on disk. */
  sizeLimit: number
}

const longest = 30 * 60_000
const sizeCheckEvery = 500
const abandonedAfter = 10_000

/** Makes the mirror where it is missing. `head` is a commit of the remote: its length tells SHA-1 from SHA-256. */
export async function ensureMirror({ path }: Mirror, head: string): Promise<void> {
  if (mirrorExists(path)) return
  await mkdir(dirname(path), { recursive: true })
  // Under another name first, so that one that was interrupted is never taken for whole.
  const unfinished = await mkdtemp(`${path}.`)
  try {
    const format = head.length === 64 ? 'sha256' : 'sha1'
    await git(['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, '--', unfinished])
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    // Somebody else was quicker.
    if (!mirrorExists(path)) throw error
  }
}

export function mirrorExists(path: string): boolean {
  return existsSync(join(path, 'HEAD'))
}

export async function removeMirror(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
}

/** Brings the branch up to date and gives its newest commit. */
export async function fetchBranch(mirror: Mirror, branch: string): Promise<string> {
  const ref = `refs/heads/${branch}`
  await fetchRefs(mirror, [`+${ref}:${ref}`])
  return (await resolve(mirror.path, ref)) as string
}

/** Fetches a commit by the first of these names that leads to it; null where none does. */
export async function fetchCommit(mirror: Mirror, commit: string, refs: (string | null)[]): Promise<string | null> {
  const known = await resolve(mirror.path, commit)
  if (known !== null) return known
  const whole = /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit) ? commit : null
  for (const ref of [...refs, whole]) {
    if (ref === null) continue
    try {
      // Under a name of ours, which keeps it from being lost when the remote forgets it.
      await fetchRefs(mirror, [`+${ref}:refs/kept/${commit}`])
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      continue
    }
    const found = await resolve(mirror.path, commit)
    if (found !== null) return found
  }
  return null
}

/** The commit that a name or the beginning of a hash stands for, null where there is none, or more than one. */
export async function resolve(mirror: string, name: string): Promise<string | null> {
  try {
    const sha = decode(
      await git(['rev-parse', '--quiet', '--verify', '--end-of-options', `${name}^{commit}`], { mirror }),
    ).trim()
    return sha === '' ? null : sha
  } catch (error) {
    if (error instanceof GitError) return null
    throw error
  }
}

/** The line of first parents, newest first. */
export async function mainlineShas(mirror: string, from: string | null, tip: string): Promise<string[]> {
  const revisions = from === null ? [tip] : [tip, `^${from}`]
  return decode(await git(['rev-list', '--first-parent', ...revisions, '--'], { mirror }))
    .split('\n')
    .filter(Boolean)
}

/** How many commits of the fetched branch change files that fit the pattern. */
export async function countTouching(mirror: string, pattern: string): Promise<number> {
  const counted = await git(['rev-list', '--count', '--first-parent', '--branches', '--', `:(glob)${pattern}`], {
    mirror,
  })
  return Number(decode(counted))
}

/** Packs what many small fetches have left lying about, and removes what was never finished. */
export async function tidy({ path }: Mirror): Promise<void> {
  await removeLeftovers(path, abandonedAfter)
  await git(['-c', 'gc.auto=2000', '-c', 'gc.autoDetach=false', 'gc', '--auto', '--quiet'], {
    mirror: path,
    timeout: longest,
  })
}

/** Every commit that leads up to this one. */
export async function reachable(mirror: string, tip: string): Promise<Set<string>> {
  return new Set(decode(await git(['rev-list', tip, '--'], { mirror })).split('\n'))
}

/** Gives the commit a name of ours, so that its contents can still be read when no branch leads to it any more. */
export async function keep(mirror: string, commit: string): Promise<void> {
  await git(['update-ref', `refs/kept/${commit}`, commit], { mirror })
}

/** The commits at which the remote's own history is cut off. */
export async function readBoundary(mirror: string): Promise<Set<string>> {
  const text = await readFile(join(mirror, 'shallow'), 'utf8').catch(() => '')
  return new Set(text.split('\n').filter(Boolean))
}

async function fetchRefs(mirror: Mirror, refspecs: string[]): Promise<void> {
  const { path, remote } = mirror
  const tooLarge = new AbortController()
  const watch = setInterval(async () => {
    // What was there a moment ago may be gone; the next look will do.
    if (await isTooLarge(mirror).catch(() => false)) tooLarge.abort()
  }, sizeCheckEvery)
  try {
    await git(
      [
        // Large files go straight to the disk, where they are seen to be large, rather than into memory.
        '-c',
        'core.bigFileThreshold=2m',
        'fetch',
        '--quiet',
        '--no-tags',
        '--no-write-fetch-head',
        '--update-shallow',
        '--recurse-submodules=no',
        '--end-of-options',
        remote.url,
        ...refspecs,
      ],
      { mirror: path, env: remoteEnvironment(remote), timeout: longest, signal: tooLarge.signal },
    )
  } catch (error) {
    await removeLeftovers(path, tooLarge.signal.aborted ? 0 : abandonedAfter)
    if (tooLarge.signal.aborted) throw tooLargeError(mirror)
    throw error
  } finally {
    clearInterval(watch)
  }
  // It may have been too quick to be watched.
  if (await isTooLarge(mirror)) throw tooLargeError(mirror)
}

function tooLargeError({ sizeLimit }: Mirror): GitError {
  return new GitError('fetch', `the repository is larger than ${sizeLimit} bytes (REPOSITORY_SIZE_LIMIT)`)
}

export async function isTooLarge({ path, sizeLimit }: Mirror): Promise<boolean> {
  const counted = decode(await git(['count-objects', '-v'], { mirror: path }))
  const kilobytes = [...counted.matchAll(/^size[\w-]*: (\d+)$/gm)].map(([, size]) => Number(size))
  // Where a large file is on its way, which git does not count.
  const objects = join(path, 'objects')
  const unfinished = (await readdir(objects)).filter((file) => file.startsWith('tmp_'))
  const bytes = await Promise.all(
    unfinished.map(async (file) => (await stat(join(objects, file)).catch(() => ({ size: 0 }))).size),
  )
  return sum(kilobytes) * 1024 + sum(bytes) > sizeLimit
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** A git that was killed leaves its locks and half of what it fetched behind. Those in use are younger than `age`. */
async function removeLeftovers(mirror: string, age: number): Promise<void> {
  for (const file of await readdir(mirror, { recursive: true }).catch(() => [])) {
    if (!/\.lock$|(^|\/)tmp_[^/]+$/.test(file)) continue
    const path = join(mirror, file)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (Date.now() - mtimeMs >= age) await rm(path, { recursive: true, force: true })
  }
}
