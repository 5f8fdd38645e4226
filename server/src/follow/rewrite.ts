import { isAncestor, mergeBase } from '../git/log.ts'
import { keep, reachable, resolve } from '../git/mirror.ts'
import { type Paths, replayPaths, trackPaths } from './edits.ts'
import { changesTo, type Work } from './work.ts'

export interface Start {
  /** The commit that the walk goes on from, null for the beginning. */
  from: string | null
  paths: Paths
}

/** Where to go on reading. Where the default branch was rewritten, what it lost is marked so, and reading goes on where they parted. */
export async function startOfWalk(work: Work): Promise<Start> {
  const { repository } = work.lease
  const { facts } = work.follow.store
  const known = repository.tip === null ? null : await resolve(work.mirror.path, repository.tip)
  if (repository.tip === null || (known !== null && (await isAncestor(work.mirror.path, known, work.tip)))) {
    return { from: repository.tip, paths: trackPaths(await facts.paths(repository)) }
  }
  const from = known === null ? null : await mergeBase(work.mirror.path, known, work.tip)
  if (known !== null) await keep(work.mirror.path, known)
  return { from, paths: await leaveBehind(work, from) }
}

async function leaveBehind(work: Work, tip: string | null): Promise<Paths> {
  const { follow, lease } = work
  const { facts } = follow.store
  const stays = await reachable(work.mirror.path, work.tip)
  const landed = await facts.landedEdits(lease.repository)
  const lost = new Set(landed.filter(({ commitSha }) => !stays.has(commitSha)).map(({ commitSha }) => commitSha))
  const edits = (await facts.edits(lease.repository, { commits: [...lost] })).map((edit) => ({
    ...edit,
    orphanedAt: edit.orphanedAt ?? work.now,
  }))
  const pulls = await facts.pulls(
    lease.repository,
    edits.flatMap(({ pull }) => pull ?? []),
  )
  const before = await facts.paths(lease.repository)
  const after = replayPaths(landed.filter(({ commitSha }) => stays.has(commitSha)))
  const placed = new Set(after.values())
  const displaced: number[] = []
  for (const [path, promptId] of before) {
    if (placed.has(promptId)) continue
    // A prompt that only the lost commits had stays where it was, so that its file brings it back.
    if (after.has(path)) displaced.push(promptId)
    else after.set(path, promptId)
  }
  const moved = [...after].filter(([path, promptId]) => before.get(path) !== promptId)
  await facts.apply(lease, {
    tip,
    edits,
    paths: [
      ...displaced.map((promptId) => ({ promptId, path: null })),
      ...moved.map(([path, promptId]) => ({ promptId, path })),
    ],
    entries: await changesTo(work, edits, pulls),
  })
  return trackPaths(after)
}
