import { isAncestor } from '../git/log.ts'
import { readMainline } from '../git/mainline.ts'
import { keepCommit, resolveCommit } from '../git/mirror.ts'
import { revList } from '../git/rev-list.ts'
import { type PathMove, replayPaths } from './prompt-paths.ts'
import { entryChangesFor, type SyncRun } from './sync-run.ts'

/** Where reading the default branch resumes. */
export interface ResumePoint {
  /** The last commit that is still valid; null to read from the root. */
  from: string | null
  /** The prompt at each path as of that commit. */
  paths: Map<string, number>
}

/** Finds where to resume. If the default branch was rewritten, orphans the edits it lost and resumes at the fork point. */
export async function findResumePoint(run: SyncRun): Promise<ResumePoint> {
  const { repository } = run.lease
  const { facts } = run.context.store
  if (run.added !== null) return { from: run.added.from, paths: await facts.paths(repository) }
  const known = repository.tip === null ? null : await resolveCommit(run.mirror.path, repository.tip)
  if (repository.tip === null || (known !== null && (await isAncestor(run.mirror.path, known, run.tip)))) {
    return { from: repository.tip, paths: await facts.paths(repository) }
  }
  if (known !== null) await keepCommit(run.mirror.path, known)
  return orphanLostEdits(run)
}

async function orphanLostEdits(run: SyncRun): Promise<ResumePoint> {
  const { context, lease } = run
  const { facts } = context.store
  const ancestors = new Set(await revList(run.mirror.path, [run.tip]))
  const landed = await facts.landedEdits(lease.repository)
  const remaining = landed.filter(({ commitSha }) => ancestors.has(commitSha))
  const from = remaining.at(-1)?.commitSha ?? null
  const lostCommits = new Set(landed.map(({ commitSha }) => commitSha).filter((sha) => !ancestors.has(sha)))
  const edits = (await facts.edits(lease.repository, { commits: [...lostCommits] })).map((edit) => ({
    ...edit,
    orphanedAt: edit.orphanedAt ?? run.now,
  }))
  const before = await facts.paths(lease.repository)
  const { paths, moves } = movePaths(before, from === null ? await firstPaths(run, before) : replayPaths(remaining))
  await facts.apply(lease, {
    tip: from,
    edits,
    paths: moves,
    entries: await entryChangesFor(run, edits, []),
    rewritten: true,
  })
  return { from, paths }
}

/** The first path of each current prompt file in an unrelated history, so that reading it again finds the same prompts. */
async function firstPaths(run: SyncRun, current: Map<string, number>): Promise<Map<string, number>> {
  const first = new Map<string, string>()
  const range = { from: null, to: run.tip }
  for await (const { files } of readMainline(run.mirror.path, range, run.options)) {
    for (const { oldPath, path } of files) {
      if (oldPath === null || oldPath === path) continue
      first.set(path, first.get(oldPath) ?? oldPath)
      first.delete(oldPath)
    }
  }
  return new Map([...current].map(([path, promptId]) => [first.get(path) ?? path, promptId]))
}

/** The moves that lead to the target paths. A prompt without a target keeps its path if it is free. */
function movePaths(
  before: Map<string, number>,
  target: Map<string, number>,
): { paths: Map<string, number>; moves: PathMove[] } {
  const paths = new Map(target)
  const placed = new Set(target.values())
  const displaced: number[] = []
  for (const [path, promptId] of before) {
    if (placed.has(promptId)) continue
    // A prompt that exists only in lost commits keeps its path, so that its file finds it again if it comes back.
    if (paths.has(path)) displaced.push(promptId)
    else paths.set(path, promptId)
  }
  const moves = [
    ...displaced.map((promptId) => ({ promptId, path: null })),
    ...[...paths].flatMap(([path, promptId]) => (before.get(path) === promptId ? [] : [{ promptId, path }])),
  ]
  return { paths, moves }
}
