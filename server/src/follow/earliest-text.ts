import type { Prompt } from '../domain/prompt.ts'
import type { EarliestText } from '../domain/repositories/repository-service.ts'
import type { Instant } from '../domain/time.ts'
import { readSizes } from '../git/blobs.ts'
import { findBlob } from '../git/contents.ts'
import { mirrorExists, readStart } from '../git/mirror.ts'
import { readTextUpTo } from './contents.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'

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
