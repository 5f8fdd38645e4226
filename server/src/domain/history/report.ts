import type { ReportedDeployment } from '../deployments/deployment.ts'
import type { ReportedRepository } from '../repositories/reported-repository.ts'
import type { TrialLabel } from '../trials/label.ts'
import type { PullReport } from './pull.ts'

/** A push to a branch. `before` is null if it created the branch, `after` if it deleted it. */
export interface PushReport {
  type: 'push'
  branch: string
  before: string | null
  after: string | null
  pusher: string | null
}

/** A deployment, or a new state of one. */
export interface DeploymentReport {
  type: 'deployment'
  deployment: ReportedDeployment
}

/** Labels of a pull request that changed. */
export interface LabelReport {
  type: 'label'
  label: TrialLabel
}

/** The parsed content of a delivery. */
export interface Report {
  /** The repository that the delivery is about. */
  repository: ReportedRepository
  /** The repository's web page and default branch, if the delivery includes them. */
  webUrl: string | null
  defaultBranch: string | null
  events: (PushReport | PullReport | DeploymentReport | LabelReport)[]
  /** What the payload lacks, and what was assumed instead; null if it is complete. */
  note: string | null
}
