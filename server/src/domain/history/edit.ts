import type { Instant } from '../time.ts'

/** One commit on the default branch that changes one prompt's file. History is derived from these. */
export interface Edit {
  /** The commit's position on the default branch. Unlike commit dates, it is always in order. */
  seq: number
  commitSha: string
  promptId: number
  path: string
  /** Null if the commit adds the file. */
  oldPath: string | null
  oldBlob: string | null
  /** Null if the commit deletes the file. */
  newBlob: string | null
  author: { name: string; email: string }
  /** For a merge commit: the author of the newest commit on the merged branch that changes the file. */
  sideAuthor: { name: string; email: string } | null
  committedAt: Instant
  message: string
  branch: string
  /** Who pushed the commit, if the forge reported it. */
  actor: string | null
  /** The number of commits in that push. Null for edits of earlier versions. */
  pushSize: number | null
  /** The pull request that the commit message names as merged, if the forge has one with that number. */
  mergeReference: number | null
  /** The pull request known to have merged the commit. */
  pull: number | null
  /** Create no entry before this time: the forge may be about to report the pull request that this commit merges. */
  heldUntil: Instant | null
  /** When a rewrite of the default branch dropped the commit. */
  orphanedAt: Instant | null
  /** The commit exceeds the limits of a sync: some of its files were not recorded, or its message was cut. */
  tooLarge: boolean
}
