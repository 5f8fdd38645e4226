import assert from 'node:assert/strict'
import type { Scenario } from './scenario.ts'
import type { Tenant, TestService } from './service.ts'

export interface NewDeploymentBody {
  environment?: unknown
  commit_sha?: unknown
  state?: unknown
  share?: unknown
  at?: unknown
  model?: unknown
}

export interface DeploymentBody {
  id: number
  scope: string
  environment: string
  production: boolean
  commit_sha: string
  commit_state: string
  state: string
  share: number
  at: string
  received_at: string
  source: string
  model: string | null
  entry_id?: number | null
}

/** Sends a deployment to production of a repository or prompt, given the path of its resource. */
export function postDeployment(service: TestService, tenant: Tenant, path: string, body: NewDeploymentBody) {
  return service.app.inject({
    method: 'POST',
    url: `/api/v1${path}/deployments`,
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    payload: JSON.stringify({ environment: 'production', state: 'success', ...body }),
  })
}

/** Reports a deployment of the repository through the API. */
export async function deploy(
  { service, tenant, repository }: Scenario,
  commit: string,
  at: string,
  more: NewDeploymentBody = {},
): Promise<DeploymentBody> {
  const path = `/repositories/${repository.id}`
  const response = await postDeployment(service, tenant, path, { commit_sha: commit, at, ...more })
  assert.equal(response.statusCode, 201, response.body)
  return response.json().data
}

/** Records a signal at a time, with the version that it names. */
export async function vote(
  scenario: Scenario,
  promptId: number,
  value: 'positive' | 'negative',
  at: string,
  version: string | null = null,
): Promise<void> {
  const { service, tenant } = scenario
  const createdAt = Date.parse(at)
  const details = { version, subject: null, voter: null, comment: null, occurredAt: null, traceId: null }
  const outcome = await service.store.signals.record({
    organisationId: tenant.organisation.id,
    promptId,
    value,
    metadata: null,
    createdAt,
    details: version === null ? null : details,
    limit: 1_000_000,
    idempotency: null,
  })
  assert.equal(outcome.kind, 'recorded')
}
