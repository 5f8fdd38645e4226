import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type DeploymentFacts, githubDeployment, gitlabDeployment } from '../../../testing/payloads/deployments.ts'
import type { Delivery } from '../../../testing/payloads/facts.ts'
import type { ReportedDeployment } from '../../src/domain/deployments/deployment.ts'
import { now, readDelivery, secret, withValues } from './read-delivery.ts'

const commit = '5'.repeat(40)
const at = Date.parse('2026-11-04T10:00:00Z')

const builders = { github: githubDeployment, gitlab: gitlabDeployment }

function read(forge: keyof typeof builders, facts: Partial<DeploymentFacts>, values = {}): ReportedDeployment {
  return onlyDeployment(forge, withValues(builders[forge](secret, { commit, state: 'success', ...facts }), values))
}

function onlyDeployment(forge: keyof typeof builders, delivery: Delivery): ReportedDeployment {
  const { events } = readDelivery(forge, delivery)
  assert.equal(events.length, 1)
  const [event] = events
  assert.ok(event?.type === 'deployment')
  return event.deployment
}

describe('A deployment webhook', () => {
  test("GitHub's status names the commit, environment and time of its deployment", () => {
    assert.deepEqual(read('github', { environment: 'prod-eu', production: true, id: 12 }), {
      environment: 'prod-eu',
      flagged: true,
      commitSha: commit,
      state: 'success',
      share: 1_000_000,
      at,
      forgeDeploymentId: '12',
    })
    assert.equal(read('github', {}, { 'deployment.production_environment': undefined }).flagged, null)
    assert.equal(read('github', {}, { 'deployment_status.created_at': undefined }).at, now)
  })

  test("GitLab's hook has the full commit in a URL, and the tier of the environment", () => {
    assert.deepEqual(read('gitlab', { environment: 'prod/eu', production: true, id: 12 }), {
      environment: 'prod/eu',
      flagged: true,
      commitSha: commit,
      state: 'success',
      share: 1_000_000,
      at,
      forgeDeploymentId: '12',
    })
    assert.equal(read('gitlab', {}).flagged, false)
    assert.equal(read('gitlab', {}, { environment_tier: undefined }).flagged, null)
    assert.equal(read('gitlab', {}, { commit_url: undefined }).commitSha, commit.slice(0, 8))
    const other = `https://gitlab.example/acme/prompts/-/commit/${'6'.repeat(40)}`
    assert.equal(read('gitlab', {}, { commit_url: other }).commitSha, commit.slice(0, 8), 'the URL must fit the hash')
  })

  test('every state of a forge is one of ours, and an unknown one has no effect', () => {
    const states = (forge: keyof typeof builders, names: string[]) => names.map((state) => read(forge, { state }).state)
    assert.deepEqual(
      states('github', ['success', 'inactive', 'failure', 'error', 'in_progress', 'queued', 'pending', 'waiting']),
      ['success', 'inactive', 'failure', 'failure', 'in_progress', 'queued', 'queued', 'queued'],
    )
    assert.deepEqual(states('gitlab', ['success', 'failed', 'canceled', 'skipped', 'running', 'created', 'blocked']), [
      'success',
      'failure',
      'failure',
      'failure',
      'in_progress',
      'queued',
      'queued',
    ])
    assert.equal(read('github', { state: 'constructor' }).state, 'queued')
  })

  test('a payload with a malformed commit, time or state is rejected, with the field that is wrong', () => {
    const wrong: [keyof typeof builders, Record<string, unknown>, RegExp][] = [
      ['github', { 'deployment.sha': 'main' }, /deployment\.sha must be a commit hash/],
      ['github', { deployment: undefined }, /deployment\.sha must be a string/],
      ['github', { 'deployment_status.created_at': 'yesterday' }, /created_at must be a timestamp/],
      ['github', { 'deployment_status.state': 3 }, /deployment_status\.state must be a string/],
      ['github', { 'deployment.id': 'x' }, /deployment\.id must be an integer/],
      ['gitlab', { short_sha: '' }, /short_sha must be a commit hash/],
      ['gitlab', { status: null }, /status must be a string/],
      ['gitlab', { status_changed_at: 5 }, /status_changed_at must be a string/],
    ]
    for (const [forge, values, message] of wrong) assert.throws(() => read(forge, {}, values), message)
  })
})
