import type { FoundPlace } from '../domain/deployments/deployment.ts'
import { day, hour } from '../domain/time.ts'
import { listHashes } from '../git/rev-list.ts'
import type { SyncRun } from './sync-run.ts'

// More than a busy repository deploys in a day. The next sync looks for the others.
const maxCommits = 1_000
const maxVersions = 100
const commitsPerGroup = 1_000
// Signals can come late. A poll looks further back than a sync for a delivery, which happens often.
const versionsOfPollMs = 7 * day
const versionsOfDeliveryMs = hour

/**
 * Finds where deployed commits, and commits that signals name as their version, are on the line of the default branch. Most
 * change no prompt: their version of a prompt is that of the newest commit before them that did.
 */
export async function locateCommits({ context, lease, mirror, tip, now, isPoll }: SyncRun): Promise<void> {
  const { deployments } = context.store
  const { repository } = lease
  const since = now - (isPoll ? versionsOfPollMs : versionsOfDeliveryMs)
  const wanted = new Set([
    ...(await deployments.unlocatedDeployments(repository, tip, now, maxCommits)),
    ...(await deployments.unlocatedVersions(repository, tip, since, maxVersions)),
  ])
  if (wanted.size === 0) return
  const matcher = createMatcher(wanted)
  const places = new Map<string, FoundPlace>()
  let waiting: FoundPlace[] = []
  const isDone = () => waiting.length === 0 && matcher.isDone()
  for await (const shas of listHashes(mirror.path, ['--first-parent', tip], tip, commitsPerGroup)) {
    const matches = shas.map(matcher.match)
    const needsEdits = waiting.length > 0 || matches.some((found) => found.length > 0)
    const changed = needsEdits ? await deployments.changedPrompts(repository, shas) : new Set<string>()
    for (const [i, sha] of shas.entries()) {
      for (const commit of matches[i] ?? []) {
        // A second commit that starts like an abbreviated one: it could be either.
        const isAmbiguous = places.has(commit)
        const place = { commit, located: !isAmbiguous, anchor: null }
        waiting = [...waiting.filter((other) => other.commit !== commit), ...(isAmbiguous ? [] : [place])]
        places.set(commit, place)
      }
      if (!changed.has(sha)) continue
      for (const place of waiting) place.anchor = sha
      waiting = []
    }
    if (isDone()) break
  }
  // In a shallow clone, the change before the oldest known one is unknown rather than absent.
  if (repository.incomplete) for (const place of waiting) place.located = false
  const found = [...wanted].map((commit) => places.get(commit) ?? { commit, located: false, anchor: null })
  await deployments.recordPlaces(lease, found, tip, now)
}

interface Matcher {
  /** The wanted commits that this one is, or may be. */
  match(sha: string): string[]
  /** Whether every wanted commit was found. An abbreviated one never is, because others may start like it. */
  isDone(): boolean
}

function createMatcher(wanted: Set<string>): Matcher {
  const lengths = [...new Set([...wanted].map(({ length }) => length))]
  const missing = new Set(wanted)
  return {
    match(sha) {
      const found = lengths
        .filter((length) => length <= sha.length)
        .map((length) => sha.slice(0, length))
        .filter((start) => wanted.has(start))
      if (found.length > 0 && wanted.has(sha)) missing.delete(sha)
      return found
    },
    isDone: () => missing.size === 0,
  }
}
