import { setTimeout as pause } from 'node:timers/promises'
import type { BlobTexts, FoundTexts } from '../domain/repositories/repository-service.ts'
import { phraseFinder } from '../domain/texts/phrase.ts'
import { createTurns } from '../domain/time.ts'
import { readTexts } from '../git/blobs.ts'
import { fetchBranch } from '../git/mirror.ts'
import { GitError } from '../git/run.ts'
import { openMirror } from './contents.ts'
import type { SyncContext } from './sync-context.ts'

// A prompt is far smaller.
const maxTextBytes = 1024 * 1024
// Creating a mirror may take minutes. It continues, so that a later search finds it.
const mirrorTimeoutMs = 1_000
// So many at most, however many searches have given up: each may fetch a whole repository.
const maxOpenings = 2
let openings = 0

/** Looks for a phrase in blobs of a repository. */
export async function searchTexts(
  context: SyncContext,
  repositoryId: number,
  blobs: string[],
  phrase: string,
  maxMs: number,
): Promise<FoundTexts> {
  const deadline = performance.now() + maxMs
  const nothing: FoundTexts = { examined: blobs.length, excerpts: new Map(), unreadable: blobs }
  if (openings >= maxOpenings) return nothing
  openings++
  const opened = openMirror(context, repositoryId).finally(() => openings--)
  const mirror = await Promise.race([opened, pause(mirrorTimeoutMs, null, { ref: false })])
  if (mirror === null) return nothing
  const find = phraseFinder(phrase)
  const takeTurns = createTurns()
  const found: FoundTexts = { examined: 0, excerpts: new Map(), unreadable: [] }
  try {
    for await (const { blob, text } of readTexts(mirror.path, blobs, maxTextBytes)) {
      found.examined++
      const excerpt = text === null ? null : find(text)
      if (text === null) found.unreadable.push(blob)
      if (excerpt !== null) found.excerpts.set(blob, excerpt)
      if (performance.now() > deadline) break
      await takeTurns()
    }
    return found
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    context.log.warn({ err: error, repository: repositoryId }, 'could not search texts in git')
    return nothing
  }
}

/** Reads blobs that the mirror of a repository has, and that are texts of up to `maxBytes`. Never waits for the remote. */
export async function readBlobTexts(
  context: SyncContext,
  repositoryId: number,
  blobs: string[],
  maxBytes: number,
): Promise<BlobTexts> {
  const found: BlobTexts = { texts: new Map(), tooLarge: [] }
  try {
    const mirror = await openMirror(context, repositoryId, { fetchTimeoutMs: 0 })
    if (mirror === null) return found
    for await (const { blob, size, text } of readTexts(mirror.path, blobs, maxBytes)) {
      // PostgreSQL cannot store NUL, and no prompt has one.
      const isText = text !== null && !text.includes('\0')
      if (isText) found.texts.set(blob, text)
      else if (size !== null) found.tooLarge.push(blob)
    }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    context.log.warn({ err: error, repository: repositoryId }, 'could not read texts from git')
  }
  return found
}

/** Fetches what is live, which this process may lack if another one syncs the repository. */
export async function fetchLiveTexts(context: SyncContext, repositoryId: number, timeoutMs: number): Promise<void> {
  await openMirror(context, repositoryId, {
    fetchTimeoutMs: timeoutMs,
    prepare: (mirror, { defaultBranch }) => fetchBranch(mirror, defaultBranch as string, timeoutMs),
  })
}
