import type { FromSchema } from 'json-schema-to-ts'
import { commitStates } from '../../domain/deployments/deployment.ts'
import { deploymentStates } from '../../domain/deployments/state.ts'
import { forgeNames } from '../../domain/repositories/repository.ts'
import { historyEntryExample } from '../history/schema.ts'
import { paginationExample, paginationSchema } from '../page-schema.ts'

const time = { type: 'string', format: 'date-time' } as const

const fields = {
  environment: { type: 'string', description: 'The name of the environment, such as production' },
  commit_sha: { type: 'string', description: 'The deployed commit, usually the newest of the default branch' },
  state: {
    enum: deploymentStates,
    description: 'Only `success` makes a version live, and only `inactive` ends it',
  },
} as const

const share = {
  type: 'number',
  exclusiveMinimum: 0,
  maximum: 1,
  description: 'The part of the traffic that it serves: less than 1 for a canary',
} as const

export const newDeploymentSchema = {
  title: 'NewDeployment',
  description: 'A deployment to record',
  type: 'object',
  required: ['environment', 'commit_sha', 'state'],
  properties: {
    environment: { ...fields.environment, minLength: 1, maxLength: 255 },
    commit_sha: { ...fields.commit_sha, description: 'The full hash of the deployed commit' },
    state: fields.state,
    share: { ...share, default: 1 },
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
} as const

const deploymentFields = Object.keys(deployment) as (keyof typeof deployment)[]

const deploymentSchema = {
  title: 'Deployment',
  description: 'A deployment of a repository',
  type: 'object',
  required: deploymentFields,
  properties: deployment,
  additionalProperties: false,
} as const

const promptDeploymentSchema = {
  title: 'PromptDeployment',
  description: 'A deployment that concerns a prompt',
  type: 'object',
  required: [...deploymentFields, 'entry_id' as const],
  properties: {
    ...deployment,
    entry_id: {
      type: ['integer', 'null'],
      description: "The history entry of the prompt's version in that commit; null if it is unknown",
    },
  },
  additionalProperties: false,
} as const

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
} as const

const promptExample = { ...example, entry_id: historyEntryExample.id }

function pageOf<const Item extends object, const Example extends object>(items: Item, example: Example) {
  return {
    type: 'object',
    required: ['data', 'pagination'],
    properties: { data: { type: 'array', items }, pagination: paginationSchema },
    additionalProperties: false,
    description: 'One page of deployments, newest first',
    examples: [{ data: [example], pagination: paginationExample(1) }],
  } as const
}

function oneOf<const Item extends object, const Example extends object>(item: Item, example: Example) {
  return {
    type: 'object',
    required: ['data'],
    properties: { data: item },
    additionalProperties: false,
    description: 'The deployment is recorded',
    examples: [{ data: example }],
  } as const
}

export const deploymentPageSchema = pageOf(deploymentSchema, example)
export const promptDeploymentPageSchema = pageOf(promptDeploymentSchema, promptExample)
export const recordedDeploymentSchema = oneOf(deploymentSchema, { ...example, source: 'api' })
export const recordedPromptDeploymentSchema = oneOf(promptDeploymentSchema, {
  ...promptExample,
  scope: 'prompt',
  source: 'api',
})

export type NewDeploymentBody = FromSchema<typeof newDeploymentSchema>
