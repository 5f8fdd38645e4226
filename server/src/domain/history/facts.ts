import type { Prompt } from '../prompt.ts'
import type { DeliveryOutcome } from '../repositories/delivery.ts'
import type { Lease, Repository } from '../repositories/repository.ts'
import type { Instant } from '../time.ts'
import type { DerivedEntry } from './derivation.ts'
import type { Edit } from './edit.ts'
import type { Pull } from './pull.ts'

/** An entry that was derived before, as it is stored. */
export type StoredEntry = DerivedEntry & { id: number }

/** What a piece of work on a repository found out; stored completely or not at all. */
export interface Findings {
  defaultBranch?: string | null
  tip?: string | null
  webUrl?: string | null
  incomplete?: boolean
  /** Prompts whose file has another path now; null for one whose path another prompt has taken. */
  paths?: { promptId: number; path: string | null }[]
  /** New edits, and known ones of which something else is known now. */
  edits?: Edit[]
  pulls?: Pull[]
  entries?: EntryChanges
  deliveries?: DeliveryOutcome[]
}

export interface EntryChanges {
  added: DerivedEntry[]
  changed: { before: StoredEntry; after: DerivedEntry }[]
  removed: StoredEntry[]
}

export interface RepositorySize {
  prompts: number
  entries: number
}

export interface EditQuery {
  commits?: string[]
  pulls?: number[]
  /** Held until then or earlier. */
  heldUntil?: Instant
}

/** What was learned of repositories, from which history is derived. */
export interface FactStore {
  /** The prompts of the repository's files, also those that were deleted here, by their path. */
  paths(repository: Repository): Promise<Map<string, number>>
  /** Makes a prompt for each path; where there is one already, gives that. */
  addPrompts(
    lease: Lease,
    prompts: (Pick<Prompt, 'publicId' | 'name' | 'createdAt'> & { path: string })[],
  ): Promise<Map<string, number>>
  prompts(repository: Repository): Promise<Prompt[]>
  /** The edits that any part of the query fits: by the commit, by the pull request that it belongs to or names. */
  edits(repository: Repository, query: EditQuery): Promise<Edit[]>
  /** All edits that the default branch has now, in their order. */
  landedEdits(
    repository: Repository,
  ): Promise<Pick<Edit, 'seq' | 'commitSha' | 'promptId' | 'path' | 'oldPath' | 'newBlob'>[]>
  /** The prompts that last had these paths. */
  formerPaths(repository: Repository, paths: string[]): Promise<Map<string, number>>
  lastSeq(repository: Repository): Promise<number>
  /** When the next held edit is due. */
  nextHeld(repository: Repository): Promise<Instant | null>
  pulls(repository: Repository, numbers: number[]): Promise<Pull[]>
  /** Those that are open, or merged without our knowing where they landed. */
  unsettledPulls(repository: Repository): Promise<Pull[]>
  /** Those that change a file of one of these paths, and perhaps others. */
  pullsTouching(repository: Repository, paths: string[]): Promise<Pull[]>
  /** The derived entries of what landed as these commits, and of these pull requests. */
  entries(repository: Repository, query: { commits: string[]; pulls: number[] }): Promise<StoredEntry[]>
  countEntries(repository: Repository): Promise<number>
  /** How many prompts have their file in each of these repositories of one organisation, and how many entries those have. */
  sizes(organisationId: number, repositoryIds: number[]): Promise<Map<number, RepositorySize>>
  /** Rejects, and changes nothing, where the lease was lost meanwhile. */
  apply(lease: Lease, findings: Findings): Promise<void>
}

/** What has to happen so that `stored` becomes `derived`; entries are the same by prompt and dedupe key. */
export function entryChanges(stored: StoredEntry[], derived: DerivedEntry[]): EntryChanges {
  const left = new Map(stored.map((entry) => [keyOf(entry), entry]))
  const changes: EntryChanges = { added: [], changed: [], removed: [] }
  for (const after of derived) {
    const before = left.get(keyOf(after))
    left.delete(keyOf(after))
    if (before === undefined) changes.added.push(after)
    else if (!sameEntry(before, after)) changes.changed.push({ before, after })
  }
  changes.removed.push(...left.values())
  return changes
}

function keyOf({ promptId, dedupeKey }: DerivedEntry): string {
  return `${promptId} ${dedupeKey}`
}

function sameEntry({ id: _, ...before }: StoredEntry, after: DerivedEntry): boolean {
  const names = Object.keys(after) as (keyof DerivedEntry)[]
  return names.every((name) =>
    name === 'user'
      ? before.user.name === after.user.name && before.user.email === after.user.email
      : before[name] === after[name],
  )
}
