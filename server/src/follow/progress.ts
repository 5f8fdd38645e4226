import type { Repository } from '../domain/repositories/repository.ts'
import { countTouching } from '../git/mirror.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'

/** How many commits of the fetched default branch touch prompts, to tell how far the first reading has come. */
export function countMainline(follow: SyncContext, repository: Repository): Promise<number> {
  return countTouching(mirrorOf(follow, repository).path, repository.path)
}
