import type { Edit } from '../domain/history/edit.ts'
import { sanitisedLine } from '../domain/text.ts'
import type { Commit, FileChange, Person } from '../git/log.ts'
import type { PromptPaths } from './prompt-paths.ts'

// Longer than any hand-written path, and short enough to index on both engines.
const maxPathBytes = 2_000

/** Drops files that cannot be a prompt, and deletions of files that never were one. */
export function dropUnknownFiles(commit: Commit, paths: PromptPaths): Commit {
  const files = commit.files.filter(
    (file) =>
      (file.newBlob !== null || promptOf(file, paths) !== undefined) && Buffer.byteLength(file.path) <= maxPathBytes,
  )
  return { ...commit, files }
}

/** The paths of the commit's files that need a new prompt. */
export function newPaths({ files }: Commit, paths: PromptPaths): string[] {
  return files.filter((file) => promptOf(file, paths) === undefined).map(({ path }) => path)
}

function promptOf({ oldPath, path }: FileChange, paths: PromptPaths): number | undefined {
  return (oldPath === null ? undefined : paths.promptAt(oldPath)) ?? paths.promptAt(path)
}

export type EditContext = Pick<Edit, 'seq' | 'branch' | 'mergeReference' | 'pull' | 'actor'>

/** Returns the edits of a commit whose files all have a prompt, and applies its moves to `paths`. */
export function editsOf(commit: Commit, paths: PromptPaths, context: EditContext): Edit[] {
  // Look up all prompts before moving any, because two files can swap paths.
  const prompts = commit.files.map((file) => promptOf(file, paths) as number)
  const edits = commit.files.map((file, i) => ({
    ...context,
    commitSha: commit.sha,
    promptId: prompts[i] as number,
    path: file.path,
    oldPath: file.oldPath,
    oldBlob: file.oldBlob,
    newBlob: file.newBlob,
    author: sanitisedPerson(commit.author),
    sideAuthor: null,
    committedAt: commit.committedAt,
    message: messageText(commit.message),
    heldUntil: null,
    orphanedAt: null,
  }))
  for (const { promptId, path, oldPath } of edits) {
    if (oldPath !== null && oldPath !== path) paths.move(oldPath, path, promptId)
  }
  return onePerPrompt(edits)
}

/** A file that one commit both moves and recreates yields two edits of one prompt. Keeps the one whose file exists. */
function onePerPrompt(edits: Edit[]): Edit[] {
  const byPrompt = new Map<number, Edit>()
  for (const edit of edits) {
    const other = byPrompt.get(edit.promptId)
    if (other === undefined || other.newBlob === null) byPrompt.set(edit.promptId, edit)
  }
  return [...byPrompt.values()]
}

/** A person from git, whose name and address are untrusted and may be empty. */
export function sanitisedPerson(person: Person): Person {
  const name = sanitisedLine(person.name, 1_000, '')
  const email = sanitisedLine(person.email, 1_000, '')
  return { name: name || email || 'unknown', email: email || 'unknown' }
}

function messageText(message: string): string {
  return message.trimEnd().slice(0, 20_000).toWellFormed()
}
