import { isAncestor } from '../git/log.ts'
import { readMainline } from '../git/mainline.ts'
import { keep, reachable, resolve } from '../git/mirror.ts'
import { type Paths, replayPaths, trackPaths } from './edits.ts'
import { changesTo, type SyncRun } from './sync-run.ts'

export interface Start {
  /** The commit that the walk goes on from, null for the beginning. */
  from: string | null
  paths: Paths
}

/** Where to go on reading. Where the default branch was rewritten, what it lost is marked so, and reading goes on where they parted. */
export async function startOfWalk(work: SyncRun): Promise<Start> {
  const { repository } = work.lease
  const { facts } = work.follow.store
  const known = repository.tip === null ? null : await resolve(work.mirror.path, repository.tip)
  if (repository.tip === null || (known !== null && (await isAncestor(work.mirror.path, known, work.tip)))) {
    return { from: repository.tip, paths: trackPaths(await facts.paths(repository)) }
  }
  if (known !== null) await keep(work.mirror.path, known)
  return orphanLostEdits(work)
}

async function orphanLostEdits(work: SyncRun): Promise<Start> {
  const { follow, lease } = work
  const { facts } = follow.store
  const stays = await reachable(work.mirror.path, work.tip)
  const landed = await facts.landedEdits(lease.repository)
  const kept = landed.filter(({ commitSha }) => stays.has(commitSha))
  const from = kept.at(-1)?.commitSha ?? null
  const lost = new Set(landed.filter(({ commitSha }) => !stays.has(commitSha)).map(({ commitSha }) => commitSha))
  const edits = (await facts.edits(lease.repository, { commits: [...lost] })).map((edit) => ({
    ...edit,
    orphanedAt: edit.orphanedAt ?? work.now,
  }))
  const before = await facts.paths(lease.repository)
  const paths = from === null ? await firstPaths(work, before) : replayPaths(kept)
  const moves = movesBetween(before, paths)
  await facts.apply(lease, { tip: from, edits, paths: moves, entries: await changesTo(work, edits, []) })
  return { from, paths: trackPaths(paths) }
}

/** Where the files that are prompts now were first, in a history that has nothing in common with the one that was read. */
async function firstPaths(work: SyncRun, before: Map<string, number>): Promise<Map<string, number>> {
  const first = new Map<string, string>()
  for await (const { files } of readMainline(
    work.mirror.path,
    { from: null, to: work.tip, branch: work.branch },
    work.options,
  )) {
    for (const { oldPath, path } of files) {
      if (oldPath === null || oldPath === path) continue
      first.set(path, first.get(oldPath) ?? oldPath)
      first.delete(oldPath)
    }
  }
  return new Map([...before].map(([path, promptId]) => [first.get(path) ?? path, promptId]))
}

/** What has to move so that prompts are at `after`, to which those are added that would be nowhere. */
function movesBetween(
  before: Map<string, number>,
  after: Map<string, number>,
): { promptId: number; path: string | null }[] {
  const placed = new Set(after.values())
  const displaced: number[] = []
  for (const [path, promptId] of before) {
    if (placed.has(promptId)) continue
    // A prompt that only the lost commits had stays where it was, so that its file brings it back.
    if (after.has(path)) displaced.push(promptId)
    else after.set(path, promptId)
  }
  return [
    ...displaced.map((promptId) => ({ promptId, path: null })),
    ...[...after].flatMap(([path, promptId]) => (before.get(path) === promptId ? [] : [{ promptId, path }])),
  ]
}
