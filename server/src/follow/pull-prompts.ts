import type { Pull, PullFile } from '../domain/history/pull.ts'
import type { PromptPaths } from './prompt-paths.ts'
import type { SyncRun } from './sync-run.ts'

/** Assigns prompts to the files of pull requests. Returns the pull requests that changed; files that have not landed wait. */
export async function assignPrompts(
  { context, lease }: SyncRun,
  pulls: Pull[],
  promptAt: PromptPaths['promptAt'],
): Promise<Map<number, Pull>> {
  const unassigned = pulls.flatMap(filesOf).filter(({ promptId }) => promptId === null)
  const gone = new Set(unassigned.map(startingPath).filter((path) => promptAt(path) === undefined))
  const former = await context.store.facts.formerPaths(lease.repository, [...gone])
  const promptOf = (file: PullFile) => {
    const path = startingPath(file)
    return file.promptId ?? promptAt(path) ?? former.get(path) ?? null
  }
  const changed = pulls.filter((pull) => filesOf(pull).some((file) => file.promptId !== promptOf(file)))
  return new Map(
    changed.map((pull) => {
      const heads = pull.heads.map((head) => ({
        ...head,
        files: head.files.map((file) => ({ ...file, promptId: promptOf(file) })),
      }))
      return [pull.number, { ...pull, heads }]
    }),
  )
}

function filesOf({ heads }: Pull): PullFile[] {
  return heads.flatMap(({ files }) => files)
}

/** The file's path at the base of the pull request. */
function startingPath({ oldPath, path }: PullFile): string {
  return oldPath ?? path
}
