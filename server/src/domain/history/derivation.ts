import type { Instant } from '../time.ts'
import type { Edit } from './edit.ts'
import type { EntryDetails } from './entry.ts'
import { mergeOf, type Pull, type PullEvent, type PullFile, type PullHead, stateOf } from './pull.ts'

/** An entry derived from git and the forge, with everything known about the change. */
export interface DerivedEntry extends Omit<EntryDetails, 'id' | 'repositoryId' | 'keyId' | 'hiddenCharacters'> {
  promptId: number
  dedupeKey: string
  message: string
  path: string
  /** The commit's position on the default branch. Null if the change did not land. */
  seq: number | null
  orphanedAt: Instant | null
}

interface Facts {
  /** Every edit whose commit may need an entry, or that belongs to one of the pull requests. */
  edits: Edit[]
  pulls: Pull[]
  /** The web page of a pull request that the forge has not reported. */
  pullUrl: (number: number) => string
  now: Instant
}

/**
 * Derives history entries from the known facts. The same facts always give the same entries, however and in whatever order
 * they were learned. No other code creates entries from git or a forge.
 */
export function deriveEntries({ edits, pulls, pullUrl, now }: Facts): DerivedEntry[] {
  const known = new Map(pulls.map((pull) => [pull.number, pull]))
  const firstReference = firstReferences(edits)
  const free = edits.filter(({ pull }) => pull === null)
  const claimed = Map.groupBy(
    edits.filter(({ pull }) => pull !== null),
    ({ pull }) => pull as number,
  )
  return [
    ...free.flatMap((edit) => {
      const number = mergedByReference(edit, known, firstReference)
      if (isHeld(edit, now)) return []
      return [number === null ? deployedEntry(edit) : referencedMergeEntry(edit, number, known.get(number), pullUrl)]
    }),
    ...pulls.flatMap((pull) => [
      ...openedEntries(pull),
      ...closedEntries(pull),
      ...mergedEntries(pull, claimed.get(pull.number) ?? []),
    ]),
  ]
}

function isHeld({ heldUntil }: Edit, now: Instant): boolean {
  return heldUntil !== null && heldUntil > now
}

/** The first commit to reference each pull request. Later references only mention it. */
function firstReferences(edits: Edit[]): Map<number, string> {
  const first = new Map<number, string>()
  for (const { mergeReference, pull, commitSha, orphanedAt } of edits.toSorted((a, b) => a.seq - b.seq)) {
    // A commit merged by another pull request only mentions this one. An orphaned commit counts only until a live one replaces it.
    const counts = mergeReference !== null && (pull === null || pull === mergeReference)
    if (counts && (orphanedAt === null || !edits.some((other) => replaces(other, mergeReference)))) {
      if (!first.has(mergeReference)) first.set(mergeReference, commitSha)
    }
  }
  return first
}

function replaces(edit: Edit, mergeReference: number): boolean {
  return edit.mergeReference === mergeReference && edit.orphanedAt === null
}

/** The pull request that the commit claims to merge, unless the forge says otherwise. */
function mergedByReference(edit: Edit, known: Map<number, Pull>, firstReference: Map<number, string>): number | null {
  const { mergeReference, commitSha } = edit
  if (mergeReference === null || firstReference.get(mergeReference) !== commitSha) return null
  const pull = known.get(mergeReference)
  if (pull === undefined) return mergeReference
  // Trust the forge over the message: the pull request landed as another commit, or was closed without a merge.
  return pull.landing === null && stateOf(pull) !== 'closed' ? mergeReference : null
}

function deployedEntry(edit: Edit): DerivedEntry {
  return {
    ...landedFacts(edit),
    action: 'deployed',
    user: edit.author,
    prNumber: null,
    prUrl: null,
    createdAt: edit.committedAt,
  }
}

function referencedMergeEntry(
  edit: Edit,
  prNumber: number,
  pull: Pull | undefined,
  pullUrl: (number: number) => string,
): DerivedEntry {
  return {
    ...landedFacts(edit),
    action: 'pr_merged',
    user: mergedAuthor(edit),
    prNumber,
    prUrl: pull?.url ?? pullUrl(prNumber),
    createdAt: (pull === undefined ? undefined : mergeOf(pull))?.at ?? edit.committedAt,
  }
}

/**
 * The author of the newest commit that changes the prompt, of those that landed or that a merge brought. A squash is one commit, so
 * its author counts and not that of a maintainer's last fix in the pull request. Deliveries and a backfill give the same.
 */
function mergedAuthor({ author, sideAuthor }: Edit): Edit['author'] {
  return sideAuthor ?? author
}

function landedFacts(edit: Edit) {
  return {
    promptId: edit.promptId,
    dedupeKey: `c:${edit.commitSha}`,
    commitSha: edit.commitSha,
    branchName: edit.branch,
    message: edit.message,
    actor: edit.actor,
    path: edit.path,
    oldPath: edit.oldPath,
    beforeBlob: edit.oldBlob,
    afterBlob: edit.newBlob,
    seq: edit.seq,
    orphanedAt: edit.orphanedAt,
    tooLarge: edit.tooLarge,
  }
}

/** One entry per prompt: the first time the pull request was seen to change it while targeting the default branch. */
function openedEntries(pull: Pull): DerivedEntry[] {
  const entries = new Map<number, DerivedEntry>()
  for (const [i, event] of pull.events.entries()) {
    if (!event.intoDefault) continue
    // If no earlier head could be read, assume the pull request has changed this file since the forge says it was opened.
    const earlier = pull.events.slice(0, i)
    const sinceOpened =
      event.kind !== 'retargeted' && earlier.every((other) => other.intoDefault && headOf(pull, other) === undefined)
    for (const file of headOf(pull, event)?.files ?? []) {
      if (file.promptId === null || entries.has(file.promptId)) continue
      const createdAt = sinceOpened ? pull.openedAt : timeOf(pull, i)
      const actor = sinceOpened ? (pull.events.find(({ kind }) => kind === 'opened')?.actor ?? null) : event.actor
      entries.set(
        file.promptId,
        pullEntry(pull, event, file, { action: 'pr_opened', dedupeKey: `o:${pull.number}`, createdAt, actor }),
      )
    }
  }
  return [...entries.values()]
}

/** If the forge may have sent the time of the event before, new commits cannot have been pushed before they were made. */
function timeOf(pull: Pull, index: number): Instant {
  const event = pull.events[index] as PullEvent
  const committedAt = event.mayBeLater ? headOf(pull, event)?.committedAt : undefined
  if (committedAt === undefined) return event.at
  const nextAt = pull.events[index + 1]?.at ?? Number.POSITIVE_INFINITY
  return Math.max(event.at, Math.min(committedAt, nextAt))
}

/** One entry per prompt for each time the pull request was closed without being merged. */
function closedEntries(pull: Pull): DerivedEntry[] {
  return pull.events.flatMap((event, i) => {
    if (event.kind !== 'closed' || !event.intoDefault) return []
    const files = new Map<number, PullFile>()
    for (const earlier of pull.events.slice(0, i + 1)) {
      if (!earlier.intoDefault) continue
      for (const file of headOf(pull, earlier)?.files ?? []) if (file.promptId !== null) files.set(file.promptId, file)
    }
    const facts = { action: 'pr_closed', createdAt: event.at, actor: event.actor } as const
    const dedupeKey = `x:${pull.number}:${Math.floor(event.at / 1_000)}`
    return [...files.values()].map((file) => pullEntry(pull, event, file, { ...facts, dedupeKey }))
  })
}

function pullEntry(
  pull: Pull,
  event: PullEvent,
  file: PullFile,
  facts: Pick<DerivedEntry, 'action' | 'dedupeKey' | 'createdAt' | 'actor'>,
): DerivedEntry {
  const head = headOf(pull, event)
  return {
    ...facts,
    promptId: file.promptId as number,
    user: file.author,
    commitSha: head?.sha ?? event.head,
    prNumber: pull.number,
    prUrl: pull.url,
    branchName: event.headBranch,
    message: pull.title,
    path: file.path,
    oldPath: file.oldPath,
    beforeBlob: file.oldBlob,
    afterBlob: file.newBlob,
    seq: null,
    orphanedAt: null,
    tooLarge: head?.tooLarge === true,
  }
}

/** One entry per prompt for the combined effect of all commits of the pull request. */
function mergedEntries(pull: Pull, edits: Edit[]): DerivedEntry[] {
  const { landing } = pull
  if (landing === null) return []
  const event = mergeOf(pull)
  return [...Map.groupBy(edits, ({ promptId }) => promptId).values()].flatMap((ofPrompt) => {
    const ordered = ofPrompt.toSorted((a, b) => a.seq - b.seq)
    const [first, last] = [ordered[0] as Edit, ordered.at(-1) as Edit]
    if (first.oldBlob === last.newBlob && (first.oldBlob === null || first.oldPath === last.path)) return []
    const entry: DerivedEntry = {
      ...landedFacts(last),
      action: 'pr_merged',
      dedupeKey: `c:${landing}`,
      user: mergedAuthor(last),
      commitSha: landing,
      prNumber: pull.number,
      prUrl: pull.url,
      actor: event?.actor ?? last.actor,
      createdAt: event?.at ?? last.committedAt,
      oldPath: first.oldPath,
      beforeBlob: first.oldBlob,
      tooLarge: ordered.some(({ tooLarge }) => tooLarge),
    }
    return [entry]
  })
}

function headOf({ heads }: Pull, { head }: PullEvent): PullHead | undefined {
  return heads.find(({ sha }) => sha.startsWith(head))
}
