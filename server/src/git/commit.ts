export interface Person {
  name: string
  email: string
}

export interface FileChange {
  /** The path before the change: null for a new file, different from `path` for a moved one. */
  oldPath: string | null
  /** The path after the change. For a deleted file, its last path. */
  path: string
  oldBlob: string | null
  newBlob: string | null
}

export interface Changes {
  files: FileChange[]
  /** Whether files are missing, or the message was cut, because a limit was reached. */
  tooLarge: boolean
}

export interface LogOptions {
  /** In git's syntax. A file has to match one of them. */
  pathspecs: string[]
  /** Selects files that the pathspecs match; null for all. */
  matches: ((path: string) => boolean) | null
  /** Reads only these files, literally, instead of what the pathspecs match. */
  onlyPaths?: string[] | undefined
  /** The percentage of a file that must stay the same to detect a move. At 100, git only compares blob hashes. */
  similarity: number
  /** The first files of a commit or diff that are kept. Beyond them, only those that `isKnown`, up to as many again. */
  maxFiles: number
  isKnown: (path: string) => boolean
}

export interface Commit extends Changes {
  sha: string
  parents: string[]
  author: Person
  committer: Person
  committedAt: number
  authoredAt: number
  message: string
}
