import type { PullReport } from './pull.ts'

/** A push to a branch. `before` is null where the branch is new, `after` where it is gone. */
export interface PushReport {
  type: 'push'
  branch: string
  before: string | null
  after: string | null
  pusher: string | null
}

/** What a delivery from a forge tells. */
export interface Report {
  /** The repository's page, and its default branch, where the delivery says so. */
  webUrl: string | null
  defaultBranch: string | null
  events: (PushReport | PullReport)[]
}
