import { deriveEntries } from '../domain/history/derivation.ts'
import type { Edit } from '../domain/history/edit.ts'
import { type EntryChanges, entryChanges } from '../domain/history/facts.ts'
import type { Pull } from '../domain/history/pull.ts'
import type { Lease } from '../domain/repositories/lease.ts'
import { pathPattern } from '../domain/repositories/path-pattern.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import { isLocalUrl, webUrlOf } from '../domain/repositories/repository-url.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import type { AddedCommits } from '../git/added-commits.ts'
import type { LogOptions } from '../git/commit.ts'
import { placeOf } from '../git/merge-message.ts'
import type { Mirror } from '../git/mirror.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import { readOriginUrl } from '../git/remote.ts'
import type { IncomingDelivery } from './incoming-deliveries.ts'
import type { SyncContext } from './sync-context.ts'

/** The input of every step of one sync, after the fetch. */
export interface SyncRun {
  readonly context: SyncContext
  readonly lease: Lease
  readonly mirror: Mirror
  /** The default branch, and its newest commit. */
  readonly branch: string
  readonly tip: string
  readonly deliveries: IncomingDelivery[]
  /** Whether the sync looks at everything because it is time to, rather than at what deliveries reported. */
  readonly isPoll: boolean
  readonly options: LogOptions
  /** The heads of the remote's pull requests, listed when they are first needed. */
  readonly pullRefs: () => Promise<PullRefs>
  /** The URLs under which messages may name the repository, read when they are first needed. */
  readonly places: () => Promise<ReadonlySet<string>>
  /** The commits since the last one that was recorded, or all; null if they are many, or it is not on the default branch. */
  readonly added: AddedCommits | null
  readonly now: Instant
}

// Further files of a commit are recorded only if they are prompts already.
const maxFilesPerCommit = 10_000

export function logOptions({ path, similarity }: Repository): LogOptions {
  return { ...pathPattern(path), similarity, maxFiles: maxFilesPerCommit, isKnown: () => false }
}

/**
 * The changes to the history that follow from these new or changed edits and pull requests. Loads related facts about the
 * same commits and pull requests from the store.
 */
export async function entryChangesFor(run: SyncRun, edits: Edit[], pulls: Pull[]): Promise<EntryChanges> {
  const { facts } = run.context.store
  const { repository } = run.lease
  const given = new Map(edits.map((edit) => [keyOf(edit), edit]))
  const givenPulls = new Map(pulls.map((pull) => [pull.number, pull]))
  const numbers = new Set([...givenPulls.keys(), ...edits.flatMap(pullNumbersOf)])
  const commits = new Set([...edits.map(({ commitSha }) => commitSha), ...pulls.flatMap(({ landed }) => landed)])

  let all: Edit[]
  let sizeBefore: number
  // An edit of one pull request can reference another, whose edits are then needed too.
  do {
    sizeBefore = numbers.size
    const stored = await facts.edits(repository, { commits: [...commits], pulls: [...numbers] })
    all = [...given.values(), ...stored.filter((edit) => !given.has(keyOf(edit)))]
    for (const number of all.flatMap(pullNumbersOf)) numbers.add(number)
  } while (numbers.size > sizeBefore)
  for (const { commitSha } of all) commits.add(commitSha)

  const otherPulls = await facts.pulls(
    repository,
    [...numbers].filter((number) => !givenPulls.has(number)),
  )
  const allPulls = [...pulls, ...otherPulls]
  const forge = forgeOf(repository.forge)
  const derived = deriveEntries({
    edits: all,
    pulls: allPulls,
    pullUrl: (number) => webUrlOf(repository) + forge.pullPath(number),
    now: run.now,
  })
  const landings = allPulls.flatMap(({ landing }) => landing ?? [])
  const stored = await facts.entries(repository, {
    commits: [...commits, ...landings],
    pulls: allPulls.map(({ number }) => number),
  })
  return entryChanges(stored, derived)
}

export function keyOf({ commitSha, promptId }: Edit): string {
  return `${commitSha} ${promptId}`
}

function pullNumbersOf({ mergeReference, pull }: Edit): number[] {
  return [mergeReference, pull].filter((number) => number !== null)
}

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
