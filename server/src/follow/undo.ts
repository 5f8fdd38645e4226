import type { Repository } from '../domain/repositories/repository.ts'
import type { UndoRequest, UndoResult } from '../domain/repositories/repository-service.ts'
import { readCommits } from '../git/log.ts'
import { fetchBranch, fetchCommit, type Mirror, resolveCommit } from '../git/mirror.ts'
import { pushBranch } from '../git/push.ts'
import { readRemoteBranch } from '../git/remote.ts'
import { GitError } from '../git/run.ts'
import { readUndoneFiles, type UndoneFile, undoInTree, writeCommit } from '../git/undo.ts'
import { openMirror } from './contents.ts'
import type { SyncContext } from './sync-context.ts'

// A pull request of more is not read by people any more.
const maxFiles = 300

const unreadable = 'git cannot provide the change. Check that the repository syncs'

/** Commits on top of the default branch what takes a change back, and pushes it as a branch of its own. Never to another branch. */
export async function pushUndo(context: SyncContext, request: UndoRequest): Promise<UndoResult> {
  try {
    return await undo(context, request)
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    context.log.warn({ err: error, repository: request.entry.repositoryId }, 'could not take a change back')
    return { kind: 'failed', reason: error.reason }
  }
}

async function undo(context: SyncContext, request: UndoRequest): Promise<UndoResult> {
  const { entry, mode, branch, message, person, at } = request
  const opened = await openRepository(context, request)
  if (opened === null) return { kind: 'failed', reason: unreadable }
  const { mirror, repository } = opened
  // An earlier attempt pushed it before it was killed.
  if ((await readRemoteBranch(mirror.remote, branch)) !== null) return { kind: 'exists' }
  const tip = await resolveCommit(mirror.path, `refs/heads/${repository.defaultBranch}`)
  if (tip === null) return { kind: 'failed', reason: unreadable }
  const files = await filesOf(context, mirror.path, repository, request)
  if (files.length > maxFiles) return { kind: 'too_large' }
  const { tree, overlapping } = await undoInTree(mirror.path, tip, files, mode === 'revert')
  if (overlapping.length > 0) return { kind: 'overlap', paths: overlapping }
  if (tree === null) return { kind: 'undone' }
  const commit = await writeCommit(mirror.path, { tree, parent: tip, message, person, at })
  const pushed = await pushBranch(mirror, commit, branch)
  if (pushed.kind === 'pushed')
    context.log.info({ repository: repository.id, branch, entry: entry.id }, 'pushed a branch')
  return pushed
}

async function openRepository(
  context: SyncContext,
  { entry }: Pick<UndoRequest, 'entry'>,
): Promise<{ mirror: Mirror; repository: Repository } | null> {
  if (entry.repositoryId === null) return null
  let repository: Repository | null = null
  const mirror = await openMirror(context, entry.repositoryId, {
    async prepare(mirror, found) {
      await fetchBranch(mirror, found.defaultBranch as string)
      const ref = `refs/heads/${found.defaultBranch}`
      if ((await fetchCommit(mirror, entry.commitSha, [ref])) !== null) repository = found
    },
  })
  return mirror === null || repository === null ? null : { mirror, repository }
}

/** What to take back: the prompt's file, or all files of the landing. */
async function filesOf(
  context: SyncContext,
  mirror: string,
  repository: Repository,
  { entry, promptPath, files }: Pick<UndoRequest, 'entry' | 'promptPath' | 'files'>,
): Promise<UndoneFile[]> {
  if (files === 'change') {
    const { before, after } = await landingOf(context, mirror, repository, entry)
    return before === null ? [] : readUndoneFiles(mirror, before, after, maxFiles)
  }
  const { oldPath, path, beforeBlob, afterBlob } = entry
  // A file that was moved again since stays where it is.
  const from = path === promptPath ? oldPath : null
  return [{ path: promptPath, oldPath: from, before: beforeBlob, after: afterBlob }]
}

interface Landing {
  /** The default branch right before; null if it had no commit. */
  before: string | null
  after: string
  /** How git names it in a revert. */
  revision: string[]
}

/** What a change brought to the default branch: one commit, a merge with all its commits, or the commits of a rebase. */
async function landingOf(
  { store }: SyncContext,
  mirror: string,
  repository: Repository,
  { commitSha, prNumber }: UndoRequest['entry'],
): Promise<Landing> {
  const pulls = prNumber === null ? [] : await store.facts.pulls(repository, [prNumber])
  const landed = pulls[0]?.landed ?? []
  const shas = landed.includes(commitSha) ? landed : [commitSha]
  const commits = await readCommits(mirror, ['--no-walk', ...shas])
  const ofLanding = new Set(shas)
  const oldest = commits.find(({ parents: [first] }) => first === undefined || !ofLanding.has(first))
  const before = oldest?.parents[0] ?? null
  if (shas.length > 1 && oldest !== undefined) {
    return { before, after: commitSha, revision: [`${short(oldest.sha)}^..${short(commitSha)}`] }
  }
  const isMerge = (commits[0]?.parents.length ?? 0) > 1
  return { before, after: commitSha, revision: [...(isMerge ? ['-m', '1'] : []), short(commitSha)] }
}

/** For a checkout of the repository, whose remote is `origin`. */
export async function undoCommands(
  context: SyncContext,
  request: Pick<UndoRequest, 'entry' | 'promptPath' | 'files' | 'branch'>,
): Promise<string[]> {
  const opened = await openRepository(context, request).catch(() => null)
  const { branch, entry, promptPath, files } = request
  if (opened === null) return []
  const { mirror, repository } = opened
  const { before, after, revision } = await landingOf(context, mirror.path, repository, entry)
  const all = before === null ? [] : await readUndoneFiles(mirror.path, before, after, 1)
  const isPart = files === 'prompt' && all.length > 1 && !/\p{Cc}/u.test(promptPath)
  const title = `Revert ${short(entry.commitSha)} in ${promptPath}`
  return [
    'git fetch origin',
    `git switch --create ${quoted(branch)} ${quoted(`origin/${repository.defaultBranch}`)}`,
    ...(isPart
      ? [
          `git revert --no-commit ${revision.join(' ')}`,
          `git restore --source=HEAD --staged --worktree -- . ${quoted(`:(exclude)${promptPath}`)}`,
          `git commit -m ${quoted(title)}`,
        ]
      : [`git revert --no-edit ${revision.join(' ')}`]),
    `git push --set-upstream origin ${quoted(branch)}`,
  ]
}

function short(sha: string): string {
  return sha.slice(0, 12)
}

/** As one word of a shell. */
function quoted(text: string): string {
  return /^[\w./~^:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
