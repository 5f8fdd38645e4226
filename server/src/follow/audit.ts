import { hash } from 'node:crypto'
import type { StoredEntry } from '../domain/history/facts.ts'
import { mergeOf, type Pull } from '../domain/history/pull.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import { type MergeText, streamMessages } from '../git/log.ts'
import { readReplaced } from '../git/mainline.ts'
import { mirrorExists } from '../git/mirror.ts'
import { lazyPullRefs, type PullRefs } from '../git/pull-refs.ts'
import { referenceReader } from './merge-references.ts'
import type { Claim } from './pull-claims.ts'
import { readPullEvidence } from './pull-evidence.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'
import { lazyPlaces, logOptions, type SyncRun } from './sync-run.ts'

export interface AuditOptions {
  /** How many entries to examine. */
  sample: number
  /** The same seed selects the same entries. */
  seed: number
}

/** An entry with the evidence for what it says. */
export interface AuditedEntry {
  entry: StoredEntry
  /** Null if the commit is not on the default branch of the mirror. */
  place: LinePlace | null
  pull: PullEvidence
}

export type PullEvidence =
  /** The forge reported the merge. */
  | { proof: 'reported'; number: number; at: Instant }
  /** Git proves it. `head` is what the forge's ref leads to; null if it has none. */
  | (Claim & { head: string | null; ref: string | null })
  /**
   * Nothing proves a pull request. `mentioned` is the one that the message names, `merged` the parents that a merge brought, `heads`
   * the pull requests whose head is the commit itself.
   */
  | { proof: 'none'; mentioned: number | null; merged: string[]; heads: readonly number[] }

/**
 * Collects the evidence for a sample of the entries on the default branch, spread over the whole history. Computes it again from
 * git instead of trusting what earlier syncs stored.
 */
export async function auditRepository(
  context: SyncContext,
  repository: Repository,
  options: AuditOptions,
): Promise<AuditedEntry[]> {
  const { facts } = context.store
  const mirror = mirrorOf(context, repository)
  const { defaultBranch, tip } = repository
  if (defaultBranch === null || tip === null || !mirrorExists(mirror.path)) {
    throw new Error(
      `There is no copy of repository ${repository.id} here. Run 'promptledger repo sync ${repository.id}'.`,
    )
  }
  const run: SyncRun = {
    context,
    // Only read: nothing is stored, so the lease is never used.
    lease: { repository, owner: '' },
    mirror,
    branch: defaultBranch,
    tip,
    deliveries: [],
    isPoll: true,
    options: logOptions(repository),
    pullRefs: lazyPullRefs(mirror.remote, forgeOf(repository.forge).pullRefPattern),
    places: lazyPlaces(repository),
    added: null,
    now: context.clock(),
  }
  const entries = await sampledEntries(run, options)
  const numbers = entries.flatMap(({ prNumber }) => prNumber ?? [])
  const pulls = new Map((await facts.pulls(repository, numbers)).map((pull) => [pull.number, pull]))
  const places = await readPlaces(mirror.path, tip, new Set(entries.map(({ commitSha }) => commitSha)))
  const refs = await run.pullRefs()
  const claims = await readPullEvidence(run, null, reportedNumbers(pulls))
  const readReference = referenceReader(repository)
  return entries.map((entry) => {
    const place = places.get(entry.commitSha) ?? null
    const claim = claims.claimOf(entry.commitSha)
    const reported = entry.prNumber === null ? undefined : mergeEvent(pulls.get(entry.prNumber))
    if (reported !== undefined) return { entry, place, pull: reported }
    if (claim !== undefined) return { entry, place, pull: withHead(claim, repository, refs) }
    const mentioned = place === null ? null : (readReference(place.commit)?.number ?? null)
    const merged = place?.commit.parents.slice(1) ?? []
    return { entry, place, pull: { proof: 'none', mentioned, merged, heads: refs.numbersOf(entry.commitSha) } }
  })
}

function reportedNumbers(pulls: Map<number, Pull>): Set<number> {
  return new Set([...pulls.values()].filter(({ events }) => events.length > 0).map(({ number }) => number))
}

function mergeEvent(pull: Pull | undefined): PullEvidence | undefined {
  const event = pull === undefined ? undefined : mergeOf(pull)
  return event === undefined ? undefined : { proof: 'reported', number: (pull as Pull).number, at: event.at }
}

function withHead(claim: Claim, { forge }: Repository, refs: PullRefs): PullEvidence {
  return { ...claim, head: refs.headOf(claim.number), ref: forgeOf(forge).pullRef(claim.number) }
}

/** One entry from each of `sample` equal parts of the history. */
async function sampledEntries({ context, lease }: SyncRun, { sample, seed }: AuditOptions): Promise<StoredEntry[]> {
  const { facts } = context.store
  const { repository } = lease
  const edits = await facts.landedEdits(repository)
  const size = Math.min(sample, edits.length)
  const picked = Array.from({ length: size }, (_, part) => {
    const [start, end] = [Math.floor((part * edits.length) / size), Math.floor(((part + 1) * edits.length) / size)]
    return edits[start + Math.floor(share(seed, part) * (end - start))] as (typeof edits)[number]
  })
  const stored = await facts.edits(repository, { commits: picked.map(({ commitSha }) => commitSha) })
  const pulls = [...new Set(stored.flatMap(({ pull }) => pull ?? []))]
  const entries = await facts.entries(repository, { commits: picked.map(({ commitSha }) => commitSha), pulls })
  const found = picked.flatMap(({ commitSha, promptId }) => {
    const ofPrompt = entries.filter((entry) => entry.promptId === promptId && entry.seq !== null)
    const number = stored.find((edit) => edit.commitSha === commitSha && edit.promptId === promptId)?.pull ?? null
    // A rebase has one entry, at its last commit.
    const rebased = number === null ? undefined : ofPrompt.find(({ prNumber }) => prNumber === number)
    return ofPrompt.find((entry) => entry.commitSha === commitSha) ?? rebased ?? []
  })
  return [...new Set(found)]
}

/** A number from 0 to 1 that depends on the seed and the part alone. */
function share(seed: number, part: number): number {
  return Number.parseInt(hash('sha256', `${seed} ${part}`, 'hex').slice(0, 8), 16) / 2 ** 32
}

/** Where a commit is on the default branch. */
export interface LinePlace {
  commit: MergeText
  /** The number of newer commits on the default branch. */
  newer: number
  /** The closest newer merge at which the default branch continues at another than the first parent. */
  crossing: Crossing | null
  /** The parent on the default branch, if the commit is such a merge itself. */
  swappedParent: string | null
}

interface Crossing {
  merge: string
  /** The first line of its message. */
  subject: string
  /** The parent at which the default branch continues. */
  parent: string
}

/** Finds these commits on the default branch, newest first. Stops when it has found all. */
async function readPlaces(mirror: string, tip: string, commits: ReadonlySet<string>): Promise<Map<string, LinePlace>> {
  const places = new Map<string, LinePlace>()
  if (commits.size === 0) return places
  const swapped = await readReplaced(mirror)
  let newer = 0
  let crossing: Crossing | null = null
  for await (const commit of streamMessages(mirror, ['--first-parent', tip])) {
    const { sha, parents, message } = commit
    const swappedParent = swapped.has(sha) ? (parents[0] ?? null) : null
    if (commits.has(sha)) places.set(sha, { commit, newer, crossing, swappedParent })
    if (swappedParent !== null) {
      crossing = { merge: sha, subject: message.split('\n', 1)[0] ?? '', parent: swappedParent }
    }
    newer++
    if (places.size === commits.size) break
  }
  return places
}
