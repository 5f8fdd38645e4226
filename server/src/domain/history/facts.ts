import type { NewDeployment } from '../deployments/deployment.ts'
import type { Prompt, PromptFromPath } from '../prompt.ts'
import type { DeliveryOutcome } from '../repositories/delivery.ts'
import type { Lease } from '../repositories/lease.ts'
import type { Repository } from '../repositories/repository.ts'
import type { Instant } from '../time.ts'
import type { TrialLabel } from '../trials/label.ts'
import type { DerivedEntry } from './derivation.ts'
import type { Edit } from './edit.ts'
import type { HiddenStatus } from './hidden-characters.ts'
import type { Pull } from './pull.ts'
import type { Push } from './push.ts'

/** A derived entry as it is stored. */
export type StoredEntry = DerivedEntry & { id: number }

/** What a sync learned about a repository. Stored in one transaction. */
export interface Findings {
  defaultBranch?: string | null
  tip?: string | null
  webUrl?: string | null
  /** How the forge identifies the repository. */
  forgeId?: string
  incomplete?: boolean
  unreadPullsBelow?: number | null
  /** Prompts whose file has moved. `path` is null if another prompt has taken over the path. */
  paths?: { promptId: number; path: string | null }[]
  /** New edits, and existing ones about which something changed. */
  edits?: Edit[]
  /** See `Repository`. With new edits. */
  historyBytes?: number
  pulls?: Pull[]
  /** Reported pushes to the default branch. */
  pushes?: Push[]
  entries?: EntryChanges
  /** Deployments that the forge reported. */
  deployments?: { deployment: NewDeployment; receivedAt: Instant }[]
  /** Labels of pull requests that ask for a trial, or no longer do. */
  labels?: TrialLabel[]
  /** The default branch was rewritten: known commits left it, or came back at another position. */
  rewritten?: boolean
  deliveries?: DeliveryOutcome[]
}

export interface EntryChanges {
  added: DerivedEntry[]
  changed: { before: StoredEntry; after: DerivedEntry }[]
  removed: StoredEntry[]
}

export type UncheckedEntry = Pick<StoredEntry, 'id' | 'promptId' | 'beforeBlob' | 'afterBlob'>

/** `status` is null if git cannot provide the text. */
export type CheckedEntry = UncheckedEntry & { status: HiddenStatus | null }

export interface RepositorySize {
  prompts: number
  entries: number
}

interface EditQuery {
  commits?: string[]
  pulls?: number[]
  /** Matches edits held until this time or earlier. */
  heldUntil?: Instant
}

/** Facts about repositories, from which history is derived. */
export interface FactStore {
  /** IDs of the repository's prompts by path, including prompts that were deleted in Promptledger. */
  paths(repository: Repository): Promise<Map<string, number>>
  /** Creates a prompt for each path that has none. Returns the prompt IDs of all given paths. */
  addPrompts(
    lease: Lease,
    prompts: Pick<PromptFromPath, 'publicId' | 'createdAt' | 'path'>[],
  ): Promise<Map<string, number>>
  prompts(repository: Repository): Promise<Prompt[]>
  /** The edits that match any part of the query. `pulls` matches edits that belong to, or name, one of the pull requests. */
  edits(repository: Repository, query: EditQuery): Promise<Edit[]>
  /** All edits on the current default branch, in order. */
  landedEdits(
    repository: Repository,
  ): Promise<Pick<Edit, 'seq' | 'commitSha' | 'promptId' | 'path' | 'oldPath' | 'newBlob'>[]>
  /** The prompt that last occupied each of these paths. */
  formerPaths(repository: Repository, paths: string[]): Promise<Map<string, number>>
  lastSeq(repository: Repository): Promise<number>
  /** The earliest `heldUntil` of any edit. */
  nextHeld(repository: Repository): Promise<Instant | null>
  pulls(repository: Repository, numbers: number[]): Promise<Pull[]>
  /** The known pushes that ended with one of these commits. */
  pushes(repository: Repository, after: string[]): Promise<Push[]>
  /** Pull requests that are open, or merged as a commit that has not been found yet, in batches of bounded size. */
  unsettledPulls(repository: Repository): AsyncIterable<Pull[]>
  /** Pull requests with a file that has no prompt yet, in batches of bounded size. Settled ones only if asked for. */
  unassignedPulls(repository: Repository, includeSettled: boolean): AsyncIterable<Pull[]>
  /** The derived entries of these commits and of these pull requests. */
  entries(repository: Repository, query: { commits: string[]; pulls: number[] }): Promise<StoredEntry[]>
  countEntries(repository: Repository): Promise<number>
  /** The newest derived entries whose texts have not been checked for hidden characters. */
  uncheckedEntries(repository: Repository, limit: number): Promise<UncheckedEntry[]>
  /** Stores what the checks found. Skips entries that changed in the meantime. */
  recordHiddenStatus(repository: Repository, checked: CheckedEntry[]): Promise<void>
  /** For each of these repositories of one organisation, the number of prompts and their entries. */
  sizes(organisationId: number, repositoryIds: number[]): Promise<Map<number, RepositorySize>>
  /** Rejects, changing nothing, if the lease was lost. */
  apply(lease: Lease, findings: Findings): Promise<void>
}

/** The changes that turn `stored` into `derived`. Entries are matched by prompt and dedupe key. */
export function entryChanges(stored: StoredEntry[], derived: DerivedEntry[]): EntryChanges {
  const unmatched = new Map(stored.map((entry) => [keyOf(entry), entry]))
  const changes: EntryChanges = { added: [], changed: [], removed: [] }
  for (const after of derived) {
    const before = unmatched.get(keyOf(after))
    unmatched.delete(keyOf(after))
    if (before === undefined) changes.added.push(after)
    else if (!sameEntry(before, after)) changes.changed.push({ before, after })
  }
  changes.removed.push(...unmatched.values())
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
