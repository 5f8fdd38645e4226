import { deriveEntries } from '../domain/history/derivation.ts'
import type { Edit } from '../domain/history/edit.ts'
import { type EntryChanges, entryChanges } from '../domain/history/facts.ts'
import type { Pull } from '../domain/history/pull.ts'
import { type Lease, type Repository, webUrlOf } from '../domain/repositories/repository.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import type { LogOptions } from '../git/log.ts'
import type { Mirror } from '../git/mirror.ts'
import type { Arrival } from './arrivals.ts'
import type { SyncContext } from './sync-context.ts'

/** Told how many commits were recorded so far. */
export type OnCommits = (count: number) => void | Promise<void>

/** What the parts of one sync share. */
export interface SyncRun {
  follow: SyncContext
  lease: Lease
  mirror: Mirror
  /** The default branch and its newest commit. */
  branch: string
  tip: string
  arrivals: Arrival[]
  options: LogOptions
  now: Instant
}

export function logOptions({ path, similarity }: Repository): LogOptions {
  return { pattern: path, similarity }
}

/**
 * What has to change in the history now that these edits and pull requests are as given. What else is known of the same
 * commits and pull requests comes from the store.
 */
export async function changesTo(work: SyncRun, edits: Edit[], pulls: Pull[]): Promise<EntryChanges> {
  const { facts } = work.follow.store
  const { repository } = work.lease
  const known = new Map(pulls.map((pull) => [pull.number, pull]))
  const numbers = new Set([...known.keys(), ...edits.flatMap(pullsOf)])
  const commits = new Set([...edits.map(({ commitSha }) => commitSha), ...pulls.flatMap(({ landed }) => landed)])
  const given = new Map(edits.map((edit) => [keyOf(edit), edit]))

  let all: Edit[]
  let before: number
  // What belongs to a pull request may name another, which then has to be looked at as a whole too.
  do {
    before = numbers.size
    const stored = await facts.edits(repository, { commits: [...commits], pulls: [...numbers] })
    all = [...given.values(), ...stored.filter((edit) => !given.has(keyOf(edit)))]
    for (const number of all.flatMap(pullsOf)) numbers.add(number)
  } while (numbers.size > before)
  for (const { commitSha } of all) commits.add(commitSha)

  const others = await facts.pulls(
    repository,
    [...numbers].filter((number) => !known.has(number)),
  )
  const forge = forgeOf(repository.forge)
  const derived = deriveEntries({
    edits: all,
    pulls: [...pulls, ...others],
    pullUrl: (number) => webUrlOf(repository) + forge.pullPath(number),
    now: work.now,
  })
  const landings = [...pulls, ...others].flatMap(({ landing }) => landing ?? [])
  const entries = await facts.entries(repository, {
    commits: [...commits, ...landings],
    pulls: [...known.keys(), ...others.map(({ number }) => number)],
  })
  return entryChanges(entries, derived)
}

function keyOf({ commitSha, promptId }: Edit): string {
  return `${commitSha} ${promptId}`
}

function pullsOf({ mark, pull }: Edit): number[] {
  return [mark, pull].filter((number) => number !== null)
}
