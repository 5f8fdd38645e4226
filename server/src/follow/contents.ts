import type { EntryDetails } from '../domain/history/entry.ts'
import type { Prompt } from '../domain/prompt.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { Contents, EarliestText } from '../domain/repositories/repository-service.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import { readSizes } from '../git/blobs.ts'
import { findBlob, readPatch, readText } from '../git/contents.ts'
import { ensureMirror, fetchBranch, fetchCommit, type Mirror, mirrorExists, readStart } from '../git/mirror.ts'
import { GitError } from '../git/run.ts'
import { createSharedCalls } from './shared-calls.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'

const megabyte = 1024 * 1024
// Of both texts together. A response holds them several times: as strings, as JSON and as bytes.
const maxTextBytes = 16 * megabyte
// Texts of more than this are read one after the other, so that several requests for them do not exhaust the memory.
const maxSmallBytes = 4 * megabyte

/** Reads the prompt's text before and after a change from the mirror. */
export async function readContents(context: SyncContext, entry: EntryDetails): Promise<Contents> {
  const { repositoryId, beforeBlob, afterBlob } = entry
  const mirror = await mirrorWith(context, entry)
  if (mirror === null) {
    const stateOf = (blob: string | null) => (repositoryId !== null && blob === null ? 'absent' : 'unavailable')
    const states = { beforeState: stateOf(beforeBlob), afterState: stateOf(afterBlob) } as const
    return { before: null, after: null, ...states, patch: null }
  }
  const sizes = await readSizes(
    mirror.path,
    [beforeBlob, afterBlob].filter((blob) => blob !== null),
  )
  const sizeOf = (blob: string | null) => (blob === null ? 0 : (sizes.get(blob) ?? 0))
  const read = () => readBoth(mirror.path, entry, sizes)
  return sizeOf(beforeBlob) + sizeOf(afterBlob) > maxSmallBytes ? oneAtATime(read) : read()
}

async function readBoth(mirror: string, entry: EntryDetails, sizes: Map<string, number>): Promise<Contents> {
  const { beforeBlob, afterBlob } = entry
  // The new text matters more than the old one.
  const after = await readTextUpTo(mirror, afterBlob, sizes)
  const left = maxTextBytes - (after.text === null ? 0 : (sizes.get(afterBlob ?? '') ?? 0))
  const before = await readTextUpTo(mirror, beforeBlob, sizes, left)
  const path = entry.path as string
  const paths = { old: entry.oldPath ?? path, new: path }
  const isReadable = [before, after].every(({ state }) => state === 'available' || state === 'absent')
  const patch = isReadable ? await readPatch(mirror, paths, beforeBlob, afterBlob) : null
  return { before: before.text, after: after.text, beforeState: before.state, afterState: after.state, patch }
}

/** Reads a text of up to `maxBytes`. `sizes` holds the sizes of the blobs that the mirror has. */
export async function readTextUpTo(
  mirror: string,
  blob: string | null,
  sizes: Map<string, number>,
  maxBytes = maxTextBytes,
): Promise<Omit<EarliestText, 'path'>> {
  if (blob === null) return { text: null, state: 'absent' }
  const size = sizes.get(blob)
  if (size === undefined) return { text: null, state: 'unavailable' }
  if (size > maxBytes) return { text: null, state: 'too_large' }
  const text = await readText(mirror, blob, size)
  if (text === null) return { text, state: 'unavailable' }
  return isTooLargeAsJson(text) ? { text: null, state: 'too_large' } : { text, state: 'available' }
}

/** JSON writes a control character as six. A large file that is no text would become several times larger. */
function isTooLargeAsJson(text: string): boolean {
  if (text.length <= maxSmallBytes) return false
  let controls = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 0x20) controls++
  return controls > text.length / 4
}

let largeRead: Promise<unknown> = Promise.resolve()

function oneAtATime<T>(read: () => Promise<T>): Promise<T> {
  const result = largeRead.then(read)
  largeRead = result.catch(() => {})
  return result
}

/** The mirror with the entry's commit; null if git cannot provide it. */
export async function mirrorWith(context: SyncContext, entry: EntryDetails): Promise<Mirror | null> {
  if (entry.repositoryId === null || entry.path === null) return null
  // The commit can be missing if another process fetched it, or if only a pull request had it when the mirror was created.
  return openMirror(context, entry.repositoryId, {
    prepare: (mirror, repository) => fetchCommit(mirror, entry.commitSha, refsOf(entry, repository)),
  })
}

interface OpenOptions {
  /** May fetch more, while the repository is connected. */
  prepare?: (mirror: Mirror, repository: Repository) => Promise<unknown>
  /** How long creating the mirror may take. 0 to leave that to the next sync. */
  fetchTimeoutMs?: number
}

/** The mirror of a repository. Creates it if this process has none yet; null if git cannot provide it. */
export async function openMirror(
  context: SyncContext,
  repositoryId: number,
  { prepare, fetchTimeoutMs }: OpenOptions = {},
): Promise<Mirror | null> {
  const repository = await context.store.repositories.find(repositoryId)
  if (repository?.defaultBranch == null || repository.tip === null) return null
  const mirror = mirrorOf(context, repository)
  const isConnected = repository.disconnectedAt === null
  try {
    if (!mirrorExists(mirror.path)) {
      if (!isConnected || fetchTimeoutMs === 0) return null
      await createMirror(mirror, repository.defaultBranch, repository.tip, fetchTimeoutMs)
    }
    if (isConnected) await prepare?.(mirror, repository)
    return mirror
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    context.log.warn({ err: error, repository: repository.id }, 'could not read from git')
    return null
  }
}

// Concurrent requests for the same mirror share one fetch.
const shareCreation = createSharedCalls<string, string>()

function createMirror(mirror: Mirror, branch: string, tip: string, timeoutMs?: number): Promise<string> {
  return shareCreation(mirror.path, async () => {
    await ensureMirror(mirror, tip)
    return fetchBranch(mirror, branch, timeoutMs)
  })
}

/** The refs that can lead to the entry's commit. */
function refsOf({ action, prNumber }: EntryDetails, { forge, defaultBranch }: Repository): (string | null)[] {
  if (action === 'deployed' || action === 'pr_merged') return [`refs/heads/${defaultBranch}`]
  return [prNumber === null ? null : forgeOf(forge).pullRef(prNumber)]
}

/**
 * The text of a prompt before its first recorded change, in a repository whose older history is missing. Null if the history
 * is complete, or if the prompt did not exist yet.
 */
export async function readEarliestText(
  context: SyncContext,
  prompt: Prompt,
  at: Instant,
): Promise<EarliestText | null> {
  const { store } = context
  const repository = prompt.repositoryId === null ? null : await store.repositories.find(prompt.repositoryId)
  if (repository === null || !repository.incomplete || repository.tip === null) return null
  const first = await store.history.firstLanded(prompt)
  if (first !== null && first.beforeBlob === null) return null
  const path = first === null ? prompt.path : (first.oldPath ?? first.path)
  if (path === null) return null
  const mirror = mirrorOf(context, repository).path
  const unknown: EarliestText = { path, text: null, state: 'unavailable' }
  if (!mirrorExists(mirror)) return unknown
  const start = await readStart(mirror, repository.tip)
  if (start === null || at < start) return unknown
  const blob = first?.beforeBlob ?? (await findBlob(mirror, repository.tip, path))
  if (blob === null) return unknown
  return { path, ...(await readTextUpTo(mirror, blob, await readSizes(mirror, [blob]))) }
}
