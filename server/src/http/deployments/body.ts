import type { NewDeploymentBody } from '../../../../contract/deployments.ts'
import { type Deployment, type NewDeployment, newDeployment } from '../../domain/deployments/deployment.ts'
import { wholeShare } from '../../domain/deployments/state.ts'
import { type Instant, isoTime, parseTime } from '../../domain/time.ts'

export function toDeploymentBody(deployment: Deployment) {
  return {
    id: deployment.id,
    scope: deployment.scope,
    environment: deployment.environment,
    production: deployment.production,
    commit_sha: deployment.commitSha,
    commit_state: deployment.commitState,
    state: deployment.state,
    share: deployment.share / wholeShare,
    at: isoTime(deployment.at),
    received_at: isoTime(deployment.receivedAt),
    source: deployment.source,
    model: deployment.model,
  }
}

export function parseDeployment(body: NewDeploymentBody, now: Instant): NewDeployment {
  return newDeployment(
    {
      environment: body.environment,
      commitSha: body.commit_sha,
      state: body.state,
      share: body.share ?? 1,
      at: body.at === undefined ? null : parseTime('at', body.at),
      model: body.model ?? null,
    },
    now,
  )
}
