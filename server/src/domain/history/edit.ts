import type { Instant } from '../time.ts'

/** One commit of the default branch that changes one prompt's file: a fact that git told, from which history is derived. */
export interface Edit {
  /** The place of the commit among those that the default branch went through; dates can be out of order, this is not. */
  seq: number
  commitSha: string
  promptId: number
  path: string
  /** Null where the file is new. */
  oldPath: string | null
  oldBlob: string | null
  /** Null where the file is gone. */
  newBlob: string | null
  author: { name: string; email: string }
  /** For a merge: who wrote the newest commit of the merged side that touches the file. */
  sideAuthor: { name: string; email: string } | null
  committedAt: Instant
  message: string
  branch: string
  /** Who pushed it, where the forge told. */
  actor: string | null
  /** The pull request that the commit's message names, if the forge really has one of that number. */
  mark: number | null
  /** The pull request that is known to have brought the commit. */
  pull: number | null
  /** It may be the merge of a pull request that we are about to be told of, so nothing is said of it before this time. */
  heldUntil: Instant | null
  /** When the default branch was rewritten without it. */
  orphanedAt: Instant | null
}
