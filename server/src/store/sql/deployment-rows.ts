import type { CommitState, Deployment, NewDeployment } from '../../domain/deployments/deployment.ts'
import type { LineEvent, Place } from '../../domain/deployments/live-line.ts'
import type { DeploymentState } from '../../domain/deployments/state.ts'
import type { Row } from './database.ts'

/** Columns of a deployment `d` and of the place `c` of its commit. */
export const deploymentColumns = `d.id, d.repository_id, d.prompt_id, d.environment, d.flagged, d.production, d.commit_sha, d.state,
  d.share, d.at, d.received_at, d.source, d.forge_deployment_id, d.model, c.located, c.seq, c.orphaned_at`

export function fromDeployment(deployment: NewDeployment, production: boolean, receivedAt: number): Row {
  const { dedupeKey, environment, flagged, commitSha, state, share, at, source, forgeDeploymentId, model } = deployment
  return {
    dedupe_key: dedupeKey,
    environment,
    flagged: flagged === null ? null : Number(flagged),
    production: Number(production),
    commit_sha: commitSha,
    state,
    share,
    at,
    received_at: receivedAt,
    source,
    forge_deployment_id: forgeDeploymentId,
    model,
  }
}

export function toDeployment(row: Row): Deployment {
  return {
    ...toReported(row),
    id: row.id as number,
    scope: row.prompt_id === null ? 'repository' : 'prompt',
    flagged: row.flagged === null ? null : row.flagged === 1,
    production: row.production === 1,
    commitSha: row.commit_sha as string,
    receivedAt: row.received_at as number,
    source: row.source as string,
    model: row.model as string | null,
    place: toPlace(row),
    commitState: commitStateOf(row),
  }
}

/** Null while the commit is not located. */
export function toLineEvent(row: Row): LineEvent | null {
  const place = toPlace(row)
  return place === null ? null : { ...toReported(row), place }
}

export function toReported(row: Row) {
  return {
    environment: row.environment as string,
    state: row.state as DeploymentState,
    share: row.share as number,
    at: row.at as number,
    forgeDeploymentId: row.forge_deployment_id as string | null,
  }
}

export function toPlace(row: Row): Place | null {
  if (row.located !== 1) return null
  return {
    sha: row.commit_sha as string,
    seq: row.seq as number | null,
    orphanedAt: row.orphaned_at as number | null,
  }
}

function commitStateOf({ located }: Row): CommitState {
  if (located === null) return 'pending'
  return located === 1 ? 'located' : 'not_on_line'
}
