import { createNearMisses } from '../domain/repositories/near-misses.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import { listFiles } from '../git/contents.ts'
import { GitError } from '../git/run.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'

/** Warns if no prompt was found in a repository that has been read, with the nearest matches of its path. */
export async function emptyMatchWarnings(
  context: SyncContext,
  repository: Repository,
  promptCount: number,
): Promise<string[]> {
  const { tip, path, lastSyncAt } = repository
  if (promptCount > 0 || tip === null || lastSyncAt === null) return []
  const nearMisses = createNearMisses(path)
  try {
    for await (const file of listFiles(mirrorOf(context, repository).path, tip)) nearMisses.add(file)
  } catch (error) {
    // The files read so far explain enough.
    if (!(error instanceof GitError)) throw error
  }
  return [nearMisses.explain()]
}
