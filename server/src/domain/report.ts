import type { PullEvent } from './pull.ts'
import type { Instant } from './time.ts'

/** A push to a branch. `before` is null where the branch is new, `after` where it is gone. */
export interface PushReport {
  type: 'push'
  branch: string
  before: string | null
  after: string | null
  pusher: string | null
}

/** Something happened to a pull request. `intoDefault` is for us to say, who know the default branch. */
export interface PullReport {
  type: 'pull'
  number: number
  url: string
  title: string
  openedAt: Instant
  event: Omit<PullEvent, 'intoDefault'>
}

/** What a delivery from a forge tells. */
export interface Report {
  /** The repository's page, and its default branch, where the delivery says so. */
  webUrl: string | null
  defaultBranch: string | null
  events: (PushReport | PullReport)[]
}
