import type { Edit } from '../domain/history/edit.ts'
import { sanitisedLine } from '../domain/text.ts'
import type { Commit, FileChange, Person } from '../git/commit.ts'
import type { PromptPaths } from './prompt-paths.ts'

// A sync holds the path of every prompt in memory.
const maxPromptsPerRepository = 20_000
// Every entry of a commit repeats its message.
const maxMessageLength = 20_000
const maxMessageLengthPerCommit = 2_000_000

/** Drops deletions of files that never were a prompt, and new files of a repository with too many prompts. */
export function dropUnknownFiles(commit: Commit, paths: PromptPaths): Commit {
  let free = maxPromptsPerRepository - paths.count()
  const files = commit.files.filter((file) => {
    if (promptOf(file, paths) !== undefined) return true
    return file.newBlob !== null && free-- > 0
  })
  return { ...commit, files, tooLarge: commit.tooLarge || free < 0 }
}

/** The paths of the commit's files that need a new prompt. */
export function newPaths({ files }: Commit, paths: PromptPaths): string[] {
  return files.filter((file) => promptOf(file, paths) === undefined).map(({ path }) => path)
}

function promptOf({ oldPath, path }: FileChange, paths: PromptPaths): number | undefined {
  return (oldPath === null ? undefined : paths.promptAt(oldPath)) ?? paths.promptAt(path)
}

type EditContext = Pick<Edit, 'seq' | 'branch' | 'mergeReference' | 'pull' | 'actor' | 'pushSize'>

/** Returns the edits of a commit whose files all have a prompt, and applies its moves to `paths`. */
export function editsOf(commit: Commit, paths: PromptPaths, context: EditContext): Edit[] {
  // Look up all prompts before moving any, because two files can swap paths.
  const prompts = commit.files.map((file) => promptOf(file, paths) as number)
  const { message, isCut } = messageText(commit)
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
    message,
    heldUntil: null,
    orphanedAt: null,
    tooLarge: commit.tooLarge || isCut,
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

function messageText({ message, files }: Commit): { message: string; isCut: boolean } {
  const length = Math.min(maxMessageLength, Math.floor(maxMessageLengthPerCommit / Math.max(files.length, 1)))
  const text = message.trimEnd()
  return { message: text.slice(0, length).toWellFormed(), isCut: text.length > length }
}
