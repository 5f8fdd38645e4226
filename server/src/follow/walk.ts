import type { Edit } from '../domain/history/edit.ts'
import { type Pull, stateOf } from '../domain/history/pull.ts'
import { newPrompt } from '../domain/prompt.ts'
import { sanitisedLine } from '../domain/text.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import type { Commit } from '../git/log.ts'
import { readMainline } from '../git/mainline.ts'
import { mainlineShas, readBoundary } from '../git/mirror.ts'
import { sideAuthors } from '../git/pull-head.ts'
import { listRemoteRefs } from '../git/remote.ts'
import { pushesTo } from './arrivals.ts'
import { dropUnknownFiles, editsOf, newPaths, type Paths, person } from './edits.ts'
import type { Pulls } from './pulls.ts'
import type { Start } from './rewrite.ts'
import { changesTo, type OnCommits, type SyncRun } from './sync-run.ts'

// Commits, and edits: a commit can change thousands of files.
const portionSize = 500
// A forge tells of a merge and of its push one right after the other; this is how long we wait for the second.
const hold = 10_000

export interface Walked {
  paths: Paths
  /** Paths that have become prompts. */
  added: string[]
}

/**
 * Reads the default branch from where we left off to its newest commit and records what it finds, portion by portion: each
 * is stored with how far it goes, so that whoever is interrupted goes on from there.
 */
export async function walk(work: SyncRun, start: Start, pulls: Pulls, onCommits: OnCommits): Promise<Walked> {
  const { follow, lease, mirror, branch, tip } = work
  const { facts } = follow.store
  const { paths } = start
  if (start.from === tip) return { paths, added: [] }
  const forge = forgeOf(lease.repository.forge)
  const boundary = await readBoundary(mirror.path)
  const pusherOf = await pushers(work, start.from)
  const pullOf = new Map([...pulls.all.values()].flatMap(({ number, landed }) => landed.map((sha) => [sha, number])))
  const isPull = pullNumbers(work, pulls)
  let seq = await facts.lastSeq(lease.repository)
  let portion: { commit: Commit; edits: Edit[] }[] = []
  let portionEdits = 0
  let done = 0
  const added: string[] = []

  async function flush(): Promise<void> {
    const last = portion.at(-1)
    if (last === undefined) return
    const merges = portion.map(({ commit }) => commit).filter(({ parents }) => parents.length > 1)
    const authors = await sideAuthors(mirror.path, merges, work.options)
    const known = await facts.edits(lease.repository, { commits: portion.map(({ commit }) => commit.sha) })
    const edits = portion.flatMap(({ commit, edits }) =>
      edits.map((edit) => {
        const author = authors.get(commit.sha)?.get(edit.path)
        const sideAuthor = author === undefined ? null : person(author)
        return withKnown({ ...edit, sideAuthor }, known)
      }),
    )
    const numbers = new Set(edits.map(({ pull }) => pull))
    const bringing = [...pulls.all.values()].filter(({ number }) => numbers.has(number))
    await facts.apply(lease, {
      tip: last.commit.sha,
      incomplete: boundary.size > 0,
      paths: paths.takeMoves(),
      edits,
      pulls: bringing,
      entries: await changesTo(work, edits, bringing),
    })
    done += portion.length
    portion = []
    portionEdits = 0
    await onCommits(done)
  }

  for await (const read of readMainline(mirror.path, { from: start.from, to: tip, branch }, work.options)) {
    const commit = dropUnknownFiles(read, paths)
    const news = newPaths(commit, paths)
    if (news.length > 0) {
      // A path that a prompt has just left must be free in the store too.
      if (paths.hasMoves()) await flush()
      for (const [path, promptId] of await addPrompts(work, news)) paths.add(path, promptId)
      added.push(...news)
    }
    // All files seem to be new in the oldest commit that we were given; nobody knows what it changed.
    if (boundary.has(commit.sha)) continue
    const mark = forge.markOf({
      parents: commit.parents.length,
      subject: commit.message.split('\n', 1)[0] ?? '',
      message: commit.message,
    })
    const pull = pullOf.get(commit.sha) ?? null
    const edits = editsOf(commit, paths, {
      seq: ++seq,
      branch,
      mark: mark !== null && (await isPull(mark)) ? mark : null,
      pull,
      actor: pusherOf.get(commit.sha)?.name ?? null,
    })
    const pushedAt = pusherOf.get(commit.sha)?.at
    const held = pull === null && pushedAt !== undefined && mayBeMerge(commit, edits, work, pulls)
    portion.push({ commit, edits: held ? edits.map((edit) => ({ ...edit, heldUntil: pushedAt + hold })) : edits })
    portionEdits += edits.length
    if (portion.length >= portionSize || portionEdits >= portionSize) await flush()
  }
  await flush()
  return { paths, added }
}

/** What was found out about the edit when it was read before; that happens only where the branch was rewritten. */
function withKnown(edit: Edit, known: Edit[]): Edit {
  const before = known.find(({ commitSha, promptId }) => commitSha === edit.commitSha && promptId === edit.promptId)
  if (before === undefined) return edit
  return {
    ...edit,
    seq: before.orphanedAt === null ? before.seq : edit.seq,
    pull: edit.pull ?? before.pull,
    heldUntil: before.heldUntil,
    actor: edit.actor ?? before.actor,
  }
}

/** Whether a pull request may be about to claim the commit. */
function mayBeMerge(commit: Commit, edits: Edit[], { lease }: SyncRun, { all }: Pulls): boolean {
  const open = [...all.values()].filter((pull) => stateOf(pull) === 'open')
  const mark = edits[0]?.mark ?? null
  if (mark !== null) return open.some(({ number }) => number === mark)
  if (commit.parents.length > 1 || forgeOf(lease.repository.forge).isCommitter(commit.committer)) return true
  return open.some((pull) => edits.some(({ promptId }) => touches(pull, promptId)))
}

function touches({ heads }: Pull, promptId: number): boolean {
  return heads.some(({ files }) => files.some((file) => file.promptId === promptId))
}

async function addPrompts({ follow, lease, now }: SyncRun, paths: string[]): Promise<Map<string, number>> {
  const prompts = paths.map((path) => {
    const { publicId, name, createdAt } = newPrompt(lease.repository.organisationId, nameOf(path), now)
    return { publicId, name, createdAt, path }
  })
  return follow.store.facts.addPrompts(lease, prompts)
}

function nameOf(path: string): string {
  return sanitisedLine(path, 1_000, 'unnamed')
}

/** Tells whether the forge has a pull request of this number; many numbers that people write are something else. */
function pullNumbers({ lease, mirror }: SyncRun, { all }: Pulls): (number: number) => Promise<boolean> {
  const forge = forgeOf(lease.repository.forge)
  let refs: Promise<Set<string>> | null = null
  return async (number) => {
    const ref = forge.pullRef(number)
    if (ref === null || all.has(number)) return true
    refs ??= listRemoteRefs(mirror.remote, ref.replace(String(number), '*'))
    return (await refs).has(ref)
  }
}

/** Who pushed which commit, and when we were told. */
async function pushers(work: SyncRun, from: string | null): Promise<Map<string, { name: string | null; at: Instant }>> {
  const pushes = pushesTo(work.branch, work.arrivals)
  const found = new Map<string, { name: string | null; at: Instant }>()
  if (pushes.length === 0) return found
  const byTip = new Map(pushes.map((push) => [push.after, push]))
  let push: (typeof pushes)[0] | undefined
  // From the newest commit back: each push has brought those before its own.
  for (const sha of await mainlineShas(work.mirror.path, from, work.tip)) {
    push = byTip.get(sha) ?? push
    if (push !== undefined) found.set(sha, { name: push.pusher, at: push.receivedAt })
  }
  return found
}
