import { deliveriesFrom } from './deliveries.ts'
import { type Delivery, fullName, repositoryId, repositoryName, repositoryPage } from './facts.ts'

// Deployment webhooks as GitHub and GitLab send them: every field that matters to the service, and those that could mislead it.

export interface DeploymentFacts {
  commit: string
  /** In the forge's own words. */
  state: string
  environment?: string
  /** GitHub's `production_environment`, or GitLab's tier. */
  production?: boolean
  /** The forge's ID of the deployment. */
  id?: number
  /** The ID of GitHub's status. */
  statusId?: number
  at?: string
}

/** GitHub's `deployment_status`. It contains the deployment, whose own state and time are those of its creation. */
export function githubDeployment(secret: string, facts: DeploymentFacts): Delivery {
  const { commit, state, environment = 'production', production = false, id = 900, at = '2026-11-04T10:00:00Z' } = facts
  const { statusId = 7_000 } = facts
  const api = `https://api.github.example/repos/${fullName}/deployments/${id}`
  const creator = { login: 'github-actions[bot]', id: 41_898_282, type: 'Bot' }
  const named = { task: 'deploy', original_environment: environment, environment, description: null, creator }
  const body = {
    action: 'created',
    deployment_status: {
      url: `${api}/statuses/${statusId}`,
      id: statusId,
      node_id: 'DES_kwDOA',
      state,
      creator,
      description: '',
      environment,
      target_url: `${repositoryPage('github')}/actions/runs/1/job/2`,
      created_at: at,
      updated_at: at,
      deployment_url: api,
      repository_url: `https://api.github.example/repos/${fullName}`,
      environment_url: '',
      log_url: `${repositoryPage('github')}/actions/runs/1/job/2`,
      performed_via_github_app: null,
    },
    deployment: {
      url: api,
      id,
      node_id: 'DE_kwDOA',
      ...named,
      sha: commit,
      ref: 'main',
      payload: {},
      transient_environment: false,
      production_environment: production,
      created_at: '2026-11-01T00:00:00Z',
      updated_at: at,
      statuses_url: `${api}/statuses`,
      repository_url: `https://api.github.example/repos/${fullName}`,
      performed_via_github_app: null,
    },
    check_run: { id: 2, name: 'deploy', head_sha: 'e'.repeat(40), status: 'completed', conclusion: 'success' },
    workflow: { id: 3, name: 'Deploy', path: '.github/workflows/deploy.yml', state: 'active' },
    workflow_run: { id: 1, head_branch: 'main', head_sha: 'e'.repeat(40), event: 'push', status: 'completed' },
    repository: {
      id: repositoryId,
      name: repositoryName,
      full_name: fullName,
      private: true,
      html_url: repositoryPage('github'),
      default_branch: 'main',
    },
    sender: creator,
  }
  return deliveriesFrom('github', secret).signed('deployment_status', Buffer.from(JSON.stringify(body)))
}

/** GitLab's deployment hook. It has the full hash only in a URL. */
export function gitlabDeployment(secret: string, facts: DeploymentFacts): Delivery {
  const { commit, state, environment = 'production', production = false, id = 15 } = facts
  const { at = '2026-11-04 11:00:00 +0100' } = facts
  const page = repositoryPage('gitlab')
  const body = {
    object_kind: 'deployment',
    status: state,
    status_changed_at: at,
    deployment_id: id,
    deployable_id: 796,
    deployable_url: `${page}/-/jobs/796`,
    environment,
    environment_tier: production ? 'production' : 'other',
    environment_slug: environment,
    environment_external_url: 'https://prompts.example',
    project: {
      id: repositoryId,
      name: repositoryName,
      description: '',
      web_url: page,
      avatar_url: null,
      namespace: 'acme',
      visibility_level: 0,
      path_with_namespace: fullName,
      default_branch: 'main',
      ci_config_path: '',
    },
    short_sha: commit.slice(0, 8),
    user: { id: 7, name: 'Grace Hopper', username: 'grace', email: '[REDACTED]' },
    user_url: 'https://gitlab.example/grace',
    commit_url: `${page}/-/commit/${commit}`,
    commit_title: 'Add a new prompt',
    ref: 'main',
  }
  return deliveriesFrom('gitlab', secret).signed('Deployment Hook', Buffer.from(JSON.stringify(body)))
}
