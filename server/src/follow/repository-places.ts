import type { Repository } from '../domain/repositories/repository.ts'
import { isLocalUrl } from '../domain/repositories/repository-url.ts'
import { placeOf } from '../git/merge-message.ts'
import { readOriginUrl } from '../git/origin.ts'

/** The URLs under which messages may name the repository, as `placeOf` writes them. Reads them when they are first needed, and once. */
export function lazyPlaces(repository: Pick<Repository, 'url' | 'webUrl'>): () => Promise<ReadonlySet<string>> {
  let places: Promise<Set<string>> | null = null
  return () => {
    places ??= readPlaces(repository)
    return places
  }
}

async function readPlaces({ url, webUrl }: Pick<Repository, 'url' | 'webUrl'>): Promise<Set<string>> {
  // A folder is a clone of the repository, whose messages have the URL of the forge.
  const origin = isLocalUrl(url) ? await readOriginUrl(url) : null
  return new Set([url, webUrl, origin].flatMap((each) => (each === null ? [] : placeOf(each))))
}
