import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createFolder } from '../folder.ts'
import { decode } from './bytes.ts'
import { objectBytes } from './object-bytes.ts'
import { readRef } from './refs.ts'
import { folderArguments, type Remote, withRemoteAccess } from './remote-access.ts'
import { revList } from './rev-list.ts'
import { GitError, GitLimitError, git, originalParents } from './run.ts'

/** A bare copy of the remote's default branch and of reported pull requests. It can be deleted at any time. */
export interface Mirror {
  path: string
  remote: Remote
  /** The maximum size on disk, in bytes. */
  sizeLimit: number
}

// The first fetch copies the whole repository. A later one gets what has changed since.
const cloneTimeoutMs = 15 * 60_000
const fetchTimeoutMs = 5 * 60_000
const cleanUpTimeoutMs = 5 * 60_000
const sizeCheckIntervalMs = 500
const abandonedAfterMs = 10_000
const maxPacks = 50
const maxRefFiles = 100

/** Creates the mirror if it does not exist. The length of `head`, any commit of the remote, selects SHA-1 or SHA-256. */
export async function ensureMirror({ path }: Mirror, head: string): Promise<void> {
  if (mirrorExists(path)) return
  createFolder(dirname(path), 0o700)
  // Created under a temporary name, so that an interrupted attempt is never mistaken for a complete mirror.
  const unfinished = await mkdtemp(`${path}.`)
  try {
    await createRepository(unfinished, head.length === 64 ? 'sha256' : 'sha1')
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    // Another process may have created it first.
    if (!mirrorExists(path)) throw error
  }
}

/** As `git init --bare`, without a process. The files are those of gitrepository-layout, which every version of git reads. */
async function createRepository(path: string, format: 'sha1' | 'sha256'): Promise<void> {
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads']) {
    await mkdir(join(path, folder), { recursive: true })
  }
  // Version 0 is SHA-1, with refs in files.
  const version = format === 'sha1' ? 0 : 1
  const extensions = format === 'sha1' ? '' : `[extensions]\n\tobjectFormat = ${format}\n`
  await writeFile(join(path, 'config'), `[core]\n\trepositoryFormatVersion = ${version}\n\tbare = true\n${extensions}`)
  // The branch of HEAD does not exist, because nothing reads it.
  await writeFile(join(path, 'HEAD'), 'ref: refs/heads/none\n')
}

/** Lets the copy read the mirror's objects, so that only what the mirror lacks is fetched. */
export async function borrowObjects(copy: string, mirror: string): Promise<void> {
  await mkdir(join(copy, 'objects', 'info'), { recursive: true })
  await writeFile(join(copy, 'objects', 'info', 'alternates'), `${resolve(mirror, 'objects')}\n`)
}

export function mirrorExists(path: string): boolean {
  return existsSync(join(path, 'HEAD'))
}

/** When the mirror was created; 0 if there is none. */
export async function mirrorCreatedAt(path: string): Promise<number> {
  const { mtimeMs } = await stat(join(path, 'HEAD')).catch(() => ({ mtimeMs: 0 }))
  return mtimeMs
}

/** Whether git cannot read the mirror. It is only a copy, so a later sync creates it again. */
export function isDamagedMirror(error: unknown): boolean {
  return error instanceof GitError && error.failure === 'damagedMirror'
}

export async function removeMirror(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
}

/** Renames the mirror, unless there is none or the target exists. */
export async function moveMirror(from: string, to: string): Promise<void> {
  if (from !== to && mirrorExists(from) && !mirrorExists(to)) await rename(from, to)
}

/** Fetches the branch and returns its newest commit. */
export async function fetchBranch(mirror: Mirror, branch: string, timeoutMs?: number): Promise<string> {
  const ref = `refs/heads/${branch}`
  await fetchRefs(mirror, [`+${ref}:${ref}`], timeoutMs === undefined ? {} : { timeoutMs })
  return (await readRef(mirror.path, ref)) as string
}

/** Fetches the commits of the branch without their files, where the server supports that, and returns the newest. */
export async function fetchCommits(mirror: Mirror, branch: string, timeoutMs: number): Promise<string> {
  await withoutFiles((filter) =>
    fetchRefs(mirror, [`+refs/heads/${branch}:refs/heads/${branch}`], { filter, timeoutMs }),
  )
  return (await readRef(mirror.path, `refs/heads/${branch}`)) as string
}

/**
 * Fetches a commit through the first of these refs that contains it, then by hash; null if none does. Throws if git needs too
 * much memory for it, because another attempt would too.
 */
export async function fetchCommit(mirror: Mirror, commit: string, refs: (string | null)[]): Promise<string | null> {
  const known = await resolveCommit(mirror.path, commit)
  if (known !== null) return known
  const fullSha = /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit) ? commit : null
  for (const ref of [...refs, fullSha]) {
    if (ref === null) continue
    try {
      // A ref of our own keeps the commit after the remote drops it.
      await fetchRefs(mirror, [`+${ref}:refs/kept/${commit}`])
    } catch (error) {
      if (!(error instanceof GitError) || needsTooMuchMemory(error)) throw error
      continue
    }
    const found = await resolveCommit(mirror.path, commit)
    if (found !== null) return found
  }
  return null
}

/** The commit behind a ref or a shortened hash; null if unknown or ambiguous. Throws if git exceeds a limit. */
export async function resolveCommit(mirror: string, name: string): Promise<string | null> {
  try {
    const sha = decode(
      await git(['rev-parse', '--quiet', '--verify', '--end-of-options', `${name}^{commit}`], { mirror }),
    ).trim()
    return sha === '' ? null : sha
  } catch (error) {
    if (error instanceof GitError && !(error instanceof GitLimitError)) return null
    throw error
  }
}

/** Combines the packs and refs of many small fetches and removes leftovers of interrupted ones. */
export async function cleanUpMirror({ path }: Mirror): Promise<void> {
  const files = await removeLeftovers(path, abandonedAfterMs)
  const options = { mirror: path, timeoutMs: cleanUpTimeoutMs }
  if (files.filter((file) => file.startsWith('refs/')).length > maxRefFiles) await git(['pack-refs', '--all'], options)
  if ((await packsOf(path)).length <= maxPacks) return
  // Combines those with few objects, so that most cleanups cost what was fetched and not what the repository has. Drops no object,
  // so that a fetch may run at the same time.
  await git([...lowMemory, 'repack', '--geometric=2', '-d', '-l', '-n', '--quiet'], options)
  await git(['commit-graph', 'write', '--reachable'], { ...options, env: originalParents })
}

/** Adds a ref of our own, so that the commit stays readable when no branch contains it any more. */
export async function keepCommit(mirror: string, commit: string): Promise<void> {
  await git(['update-ref', `refs/kept/${commit}`, commit], { mirror })
}

/** The oldest commits of a shallow remote. Their parents are missing. */
export async function readShallowBoundary(mirror: string): Promise<Set<string>> {
  const text = await readFile(join(mirror, 'shallow'), 'utf8').catch(() => '')
  return new Set(text.split('\n').filter(Boolean))
}

/** The date of the oldest first parent that the mirror has. */
export async function readStart(mirror: string, tip: string): Promise<number | null> {
  const [oldest = ''] = await revList(mirror, ['--first-parent', '--max-parents=0', '--timestamp', tip])
  const seconds = Number(oldest.split(' ')[0])
  return seconds > 0 ? seconds * 1_000 : null
}

const lowMemory = [
  // Stream large files to disk, where the size check sees them, instead of holding them in memory.
  '-c',
  'core.bigFileThreshold=2m',
  // The defaults, 96 MB for each of several threads, would exceed the memory limit with a large repository.
  '-c',
  'core.deltaBaseCacheLimit=16m',
  '-c',
  'pack.threads=1',
  '-c',
  'pack.windowMemory=16m',
]

const fetchCommand = [
  // Adds a fetch as one file once it is complete. git would add the objects of a small one as they arrive, and a commit would be
  // taken for fetched although the connection broke, or the process was killed, before its files.
  '-c',
  'fetch.unpackLimit=1',
  ...lowMemory,
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-show-forced-updates',
  '--update-shallow',
  '--recurse-submodules=no',
]

// Without prepared bitmaps, a server counts the objects of a large repository for minutes before it sends the first one.
const patience = ['-c', 'http.lowSpeedTime=300']

interface FetchOptions {
  filter?: string[]
  timeoutMs?: number
}

const fetching = new Map<string, Promise<void>>()

/** One after another: of two fetches that move the same ref, git lets the second one fail. Starting a trial and a sync can meet. */
function fetchRefs(mirror: Mirror, refspecs: string[], options: FetchOptions = {}): Promise<void> {
  const { path } = mirror
  const before = fetching.get(path) ?? Promise.resolve()
  const turn = before.catch(() => {}).then(() => fetchNow(mirror, refspecs, options))
  fetching.set(path, turn)
  const forget = () => fetching.get(path) === turn && fetching.delete(path)
  turn.then(forget, forget)
  return turn
}

async function fetchNow(
  mirror: Mirror,
  refspecs: string[],
  { filter = [], timeoutMs: limitMs }: FetchOptions,
): Promise<void> {
  const { path, remote } = mirror
  const isClone = (await packsOf(path)).length === 0
  const timeoutMs = limitMs ?? (isClone ? cloneTimeoutMs : fetchTimeoutMs)
  await withinSize(mirror, tooLargeError, abandonedAfterMs, (signal) =>
    withRemoteAccess(remote, 'fetch', ({ url, folder, env }) => {
      const command = [...(isClone ? patience : []), ...fetchCommand, ...folderArguments(folder), ...filter]
      const fetch = () =>
        git([...command, '--end-of-options', url, ...refspecs], {
          mirror: path,
          folder,
          // Otherwise git would not use the commit graph below.
          env: { ...env, ...originalParents },
          timeoutMs,
          signal,
        })
      return fetch().catch(async (error) => {
        if (!needsTooMuchMemory(error)) throw error
        // Without it, git holds the messages of the commits that it compares with the server's in memory.
        await git(['commit-graph', 'write', '--reachable'], { mirror: path, env: originalParents })
        return fetch()
      })
    }),
  )
  // A fast fetch can finish between two checks.
  if (isTooLarge(mirror)) throw tooLargeError(mirror)
}

/**
 * Stops a fetch into the repository when that gets too large. Removes what a fetch leaves that fails, if it is this old: a process that
 * was killed may have left files too, whose locks would stop the next fetch, and another one may be at work.
 */
export async function withinSize<T>(
  mirror: Mirror,
  tooLargeError: (mirror: Mirror) => GitError,
  leftoverAgeMs: number,
  fetch: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const tooLarge = new AbortController()
  const sizeCheck = setInterval(() => {
    if (isTooLarge(mirror)) tooLarge.abort()
  }, sizeCheckIntervalMs)
  try {
    return await fetch(tooLarge.signal)
  } catch (error) {
    await removeLeftovers(mirror.path, tooLarge.signal.aborted ? 0 : leftoverAgeMs)
    throw tooLarge.signal.aborted ? tooLargeError(mirror) : error
  } finally {
    clearInterval(sizeCheck)
  }
}

async function packsOf(mirror: string): Promise<string[]> {
  const files = await readdir(join(mirror, 'objects', 'pack')).catch(() => [])
  return files.filter((file) => file.endsWith('.pack'))
}

/** Rather than too much time, which may be the server's fault. */
function needsTooMuchMemory(error: unknown): boolean {
  return error instanceof GitLimitError && error.failure !== 'connection'
}

function tooLargeError({ sizeLimit }: Mirror): GitError {
  return new GitError('fetch', `the repository exceeds ${sizeLimit} bytes (REPOSITORY_SIZE_LIMIT)`)
}

export function isTooLarge({ path, sizeLimit }: Mirror): boolean {
  return objectBytes(path) > sizeLimit
}

// Below `objects`, because a branch may have such a name too. `.keep` locks a pack until the refs that lead to it are written.
const leftover = /\.lock$|^(pull-\w+\/)?objects\/(.+\/)?((tmp_|\.tmp-)[^/]+|[^/]+\.keep)$/

/**
 * Removes locks and partial packs left by a killed git. Files in use are younger, except `.keep`, which no fetch reads again. Returns the
 * files that it found.
 */
async function removeLeftovers(mirror: string, minAgeMs: number): Promise<string[]> {
  const files = await readdir(mirror, { recursive: true }).catch(() => [])
  for (const file of files) {
    if (!leftover.test(file)) continue
    const path = join(mirror, file)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (Date.now() - mtimeMs >= minAgeMs) await rm(path, { recursive: true, force: true })
  }
  return files
}

// What git prints if the server ends without a response to the request.
const noResponse = /expected '(packfile|acknowledgments|shallow-info)'/

/**
 * Fetches commits without their files, where the server supports that. Gitea 1.16 announces that it does, and fails when it is asked
 * to: then the files are fetched too.
 */
export async function withoutFiles(fetch: (filter: string[]) => Promise<unknown>): Promise<void> {
  try {
    await fetch(['--filter=tree:0'])
  } catch (error) {
    if (!(error instanceof GitError) || !noResponse.test(error.gitOutput)) throw error
    // git has noted the filter as that of the remote.
    await fetch(['--no-filter'])
  }
}
