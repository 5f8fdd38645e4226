import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles } from '../server/src/domain/access/api-key.ts'
import { commitStates } from '../server/src/domain/deployments/deployment.ts'
import { deploymentStates } from '../server/src/domain/deployments/state.ts'
import { forgeNames } from '../server/src/domain/repositories/repository.ts'
import { historyEntryExample } from './history.ts'
import { defineOperations } from './operation.ts'
import { promptParamsSchema } from './prompt-id.ts'
import { repositoryParamsSchema } from './repositories.ts'
import { errorBodySchema, invalidSchema, list, object, one, pageQuerySchema, time } from './schema.ts'

const fields = {
  environment: { type: 'string', description: 'The name of the environment, such as production' },
  commit_sha: { type: 'string', description: 'The deployed commit, usually the newest of the default branch' },
  state: {
    enum: deploymentStates,
    description: 'Only `success` makes a version live, and only `inactive` ends it',
  },
} as const

const model = {
  type: ['string', 'null'],
  description: 'The model that it serves; null if its reporter does not say',
} as const

const share = {
  type: 'number',
  exclusiveMinimum: 0,
  maximum: 1,
  description: 'The part of the traffic that it serves: less than 1 for a canary',
} as const

const newDeploymentSchema = {
  title: 'NewDeployment',
  description: 'A deployment to record',
  type: 'object',
  required: ['environment', 'commit_sha', 'state'],
  properties: {
    environment: { ...fields.environment, minLength: 1, maxLength: 255 },
    commit_sha: { ...fields.commit_sha, description: 'The full hash of the deployed commit' },
    state: fields.state,
    share: { ...share, default: 1 },
    model: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 200,
      description: 'The model that it serves, such as `gpt-5`. Another one than before is a change of the model',
    },
    at: { ...time, description: 'When it happened; not in the future. Defaults to now' },
  },
  examples: [{ environment: 'production', commit_sha: historyEntryExample.commit_sha, state: 'success' }],
} as const

const deployment = {
  id: { type: 'integer' },
  scope: { enum: ['repository', 'prompt'], description: 'Whether it is of all prompts of the repository or of one' },
  environment: fields.environment,
  production: { type: 'boolean', description: 'Whether the environment counts as production' },
  commit_sha: fields.commit_sha,
  commit_state: {
    enum: commitStates,
    description:
      '`pending` until a sync has looked for the commit, and `not_on_line` if the default branch never had it. Only a ' +
      '`located` commit decides what is live',
  },
  state: fields.state,
  share,
  at: time,
  received_at: time,
  source: { enum: ['api', ...forgeNames], description: 'Who reported it: the API, or the webhook of a forge' },
  model,
} as const

const deploymentSchema = object(deployment, { title: 'Deployment', description: 'A deployment of a repository' })

const promptDeploymentSchema = object(
  {
    ...deployment,
    entry_id: {
      type: ['integer', 'null'],
      description: "The history entry of the prompt's version in that commit; null if it is unknown",
    },
  },
  { title: 'PromptDeployment', description: 'A deployment that concerns a prompt' },
)

const example = {
  id: 37,
  scope: 'repository',
  environment: 'production',
  production: true,
  commit_sha: historyEntryExample.commit_sha,
  commit_state: 'located',
  state: 'success',
  share: 1,
  at: '2026-11-14T16:20:00.000Z',
  received_at: '2026-11-14T16:20:01.000Z',
  source: 'github',
  model: null,
} as const

const promptExample = { ...example, entry_id: historyEntryExample.id }

const pageDescription = 'One page of deployments, newest first'

export const deploymentPageSchema = list(deploymentSchema, pageDescription, [example])

export const promptDeploymentPageSchema = list(promptDeploymentSchema, pageDescription, [promptExample])

const recordedDeploymentSchema = one(deploymentSchema, 'The deployment is recorded', {
  ...example,
  source: 'api',
})

const recordedPromptDeploymentSchema = one(promptDeploymentSchema, 'The deployment is recorded', {
  ...promptExample,
  scope: 'prompt',
  source: 'api',
})

export type NewDeploymentBody = FromSchema<typeof newDeploymentSchema>

const invalidBody = invalidSchema('environment is required')

// A CI system needs a key that can do nothing but record.
const recorders = ['recorder', 'deploy', 'admin'] as const

export const operations = defineOperations('Deployments', {
  recordRepositoryDeployment: {
    method: 'POST',
    path: '/api/v1/repositories/:repository_id/deployments',
    client: 'deployments.recordOfRepository',
    idempotent: true,
    summary: 'Record a deployment of a repository',
    description:
      'For CI systems whose forge sends no deployment webhooks. It is of all prompts of the repository. A deployment ' +
      'with the same values is recorded once; without `at`, repeating the last one of the environment changes nothing.',
    roles: recorders,
    params: repositoryParamsSchema,
    body: newDeploymentSchema,
    response: { 201: recordedDeploymentSchema, 409: errorBodySchema, 422: invalidBody },
  },

  listRepositoryDeployments: {
    method: 'GET',
    path: '/api/v1/repositories/:repository_id/deployments',
    client: 'deployments.listOfRepository',
    summary: 'List the deployments of a repository',
    description: 'Newest first. The 10,000 newest that decide what is live are kept, and the 1,000 newest others.',
    roles: readerRoles,
    params: repositoryParamsSchema,
    query: pageQuerySchema,
    response: { 200: deploymentPageSchema },
  },

  recordPromptDeployment: {
    method: 'POST',
    path: '/api/v1/prompts/:prompt_id/deployments',
    client: 'deployments.record',
    idempotent: true,
    summary: 'Record a deployment of a prompt',
    description:
      'For a prompt that is deployed on its own, or that is not in a connected repository: then the commit is that of ' +
      'a history entry. Recorded once, like a deployment of a repository.',
    roles: recorders,
    params: promptParamsSchema,
    body: newDeploymentSchema,
    response: { 201: recordedPromptDeploymentSchema, 422: invalidBody },
  },

  listPromptDeployments: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/deployments',
    client: 'deployments.list',
    summary: 'List the deployments of a prompt',
    description: 'Those of the prompt and of its repository, newest first.',
    roles: readerRoles,
    params: promptParamsSchema,
    query: pageQuerySchema,
    response: { 200: promptDeploymentPageSchema },
  },
})
