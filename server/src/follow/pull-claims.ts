import type { Commit } from '../git/commit.ts'

/**
 * Why a commit counts as the landing of a pull request:
 * - `head`: a merge commit, and the pull request's head is among the commits that it merges.
 * - `message`: the forge's own text, or the URL of the pull request's page, names the pull request and this repository.
 * - `squash`: the title names the pull request, and its head is old enough to have landed here.
 * - `rebase`: the pull request's commits, all of them and in a row.
 */
type Proof = 'head' | 'message' | 'squash' | 'rebase'

export interface Claim {
  number: number
  proof: Proof
  /** The commit that landed last, and all of the pull request's commits on the default branch, newest first. */
  landing: string
  landed: string[]
}

/** Which pull request landed as which commits. A pull request lands once, and a commit belongs to one pull request. */
export interface PullClaims {
  claimOf(commit: string): Claim | undefined
  claimFor(number: number): Claim | undefined
  all(): Iterable<Claim>
  /** Adds a claim. An earlier claim of the pull request, or on one of the commits, is replaced. */
  add(claim: Claim): void
}

export function createClaims(): PullClaims {
  const byCommit = new Map<string, Claim>()
  const byNumber = new Map<number, Claim>()
  function remove(claim: Claim | undefined): void {
    if (claim === undefined) return
    byNumber.delete(claim.number)
    for (const sha of claim.landed) byCommit.delete(sha)
  }
  return {
    claimOf: (commit) => byCommit.get(commit),
    claimFor: (number) => byNumber.get(number),
    all: () => byNumber.values(),
    add(claim) {
      remove(byNumber.get(claim.number))
      for (const sha of claim.landed) remove(byCommit.get(sha))
      byNumber.set(claim.number, claim)
      for (const sha of claim.landed) byCommit.set(sha, claim)
    },
  }
}

/** A commit whose message names a pull request, which is not proven yet. */
export interface Mention extends Pick<Commit, 'sha' | 'committedAt' | 'author' | 'committer'> {
  number: number
  /** The parent on the default branch, and the others. */
  parent: string | null
  merged: string[]
  /** Whether the forge made the commit. */
  byForge: boolean
  /** Whether the title has the number without brackets, so that it may be that of something else. */
  isBare?: boolean
}
