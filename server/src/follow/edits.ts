import type { Edit } from '../domain/history/edit.ts'
import { sanitisedLine } from '../domain/text.ts'
import type { Commit, FileChange, Person } from '../git/log.ts'

/** The paths of prompts while one commit after the other is looked at. */
export interface Paths {
  /** The prompt of a file that is there, or was. */
  promptAt(path: string): number | undefined
  add(path: string, promptId: number): void
  move(from: string, to: string, promptId: number): void
  /** What changed since the last time, for the store. */
  takeMoves(): { promptId: number; path: string | null }[]
  hasMoves(): boolean
}

export function trackPaths(known: Map<string, number>): Paths {
  const byPath = new Map(known)
  let moves = new Map<number, string | null>()
  return {
    promptAt: (path) => byPath.get(path),
    add(path, promptId) {
      byPath.set(path, promptId)
    },
    move(from, to, promptId) {
      const displaced = byPath.get(to)
      if (displaced !== undefined && displaced !== promptId) moves.set(displaced, null)
      if (byPath.get(from) === promptId) byPath.delete(from)
      byPath.set(to, promptId)
      moves.set(promptId, to)
    },
    takeMoves() {
      const taken = [...moves].map(([promptId, path]) => ({ promptId, path }))
      moves = new Map()
      return taken
    },
    hasMoves: () => moves.size > 0,
  }
}

/** Where the prompts stood after these edits. */
export function replayPaths(edits: Pick<Edit, 'promptId' | 'path' | 'oldPath'>[]): Map<string, number> {
  const byPath = new Map<string, number>()
  for (const { promptId, path, oldPath } of edits) {
    if (oldPath !== null && oldPath !== path && byPath.get(oldPath) === promptId) byPath.delete(oldPath)
    byPath.set(path, promptId)
  }
  return byPath
}

// Longer than any path that somebody typed, and what every engine can find again by an index.
const longestPath = 2_000

/** The commit without files that went before we knew of them, or that no prompt can be. */
export function dropUnknownFiles(commit: Commit, paths: Paths): Commit {
  const files = commit.files.filter(
    (file) =>
      (file.newBlob !== null || promptOf(file, paths) !== undefined) && Buffer.byteLength(file.path) <= longestPath,
  )
  return { ...commit, files }
}

/** Paths that are no prompt yet. */
export function newPaths({ files }: Commit, paths: Paths): string[] {
  return files.filter((file) => promptOf(file, paths) === undefined).map(({ path }) => path)
}

function promptOf({ oldPath, path }: FileChange, paths: Paths): number | undefined {
  return (oldPath === null ? undefined : paths.promptAt(oldPath)) ?? paths.promptAt(path)
}

export type EditContext = Pick<Edit, 'seq' | 'branch' | 'mark' | 'pull' | 'actor'>

/** The edits of a commit whose files all have a prompt by now. */
export function editsOf(commit: Commit, paths: Paths, context: EditContext): Edit[] {
  // All at once: files may have changed places.
  const prompts = commit.files.map((file) => promptOf(file, paths) as number)
  const edits = commit.files.map((file, i) => ({
    ...context,
    commitSha: commit.sha,
    promptId: prompts[i] as number,
    path: file.path,
    oldPath: file.oldPath,
    oldBlob: file.oldBlob,
    newBlob: file.newBlob,
    author: person(commit.author),
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

/** A file that was moved and made anew in one commit leaves two changes to one prompt: the one that is there counts. */
function onePerPrompt(edits: Edit[]): Edit[] {
  const byPrompt = new Map<number, Edit>()
  for (const edit of edits) {
    const other = byPrompt.get(edit.promptId)
    if (other === undefined || other.newBlob === null) byPrompt.set(edit.promptId, edit)
  }
  return [...byPrompt.values()]
}

export function person({ name, email }: Person): Person {
  const line = { name: sanitisedLine(name, 1_000, ''), email: sanitisedLine(email, 1_000, '') }
  return { name: line.name || line.email || 'unknown', email: line.email || 'unknown' }
}

function messageText(message: string): string {
  return message.trimEnd().slice(0, 20_000).toWellFormed()
}
