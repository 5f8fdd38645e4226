import type { FromSchema } from 'json-schema-to-ts'
import { forgeNames, repositoryStates } from '../../domain/repositories/repository.ts'
import { forgeOf } from '../../forges/index.ts'
import { paginationExample, paginationSchema } from '../page-schema.ts'
import { promptIdExample } from '../prompts/id-schema.ts'

const textOrNull = { type: ['string', 'null'] } as const
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

const warnings = {
  type: 'array',
  items: { type: 'string' },
  description: 'What is probably a mistake, such as prompt files that overlap with those of another repository',
} as const

const repository = {
  id: { type: 'integer' },
  forge: { enum: forgeNames },
  url: { type: 'string' },
  path: { type: 'string' },
  default_branch: { ...textOrNull, description: 'Null while the repository has no commits' },
  state: { enum: repositoryStates },
  incomplete: {
    type: 'boolean',
    description: 'Whether the server lacks the oldest commits, as with a shallow clone, so that history starts late',
  },
  unread_pulls_below: {
    type: ['integer', 'null'],
    description:
      'Rebased pull requests with lower numbers have not been searched yet, so that their commits are `deployed` for now. The ' +
      'next sync continues. Null if all have been searched',
  },
  webhook_url: { type: 'string', description: 'The URL for the webhook of the forge' },
  last_delivery_at: timeOrNull,
  rejected_deliveries: {
    type: 'integer',
    description: 'The number of webhook requests with a missing or wrong signature, up to a minute late',
  },
  last_rejected_at: { ...timeOrNull, description: 'The newest of them' },
  last_rejection: { ...textOrNull, description: 'Why the newest of them was rejected' },
  last_sync_at: { ...timeOrNull, description: 'The last successful sync' },
  sync_age_seconds: {
    type: ['integer', 'null'],
    description: 'The age of the last successful sync; null before the first',
  },
  stale: {
    type: 'boolean',
    description: 'Whether no sync has succeeded for more than two hours, so that the history may be out of date',
  },
  last_error: { ...textOrNull, description: 'Why the last sync failed' },
  ssh_public_key: { ...textOrNull, description: 'The public half of the deploy key; null without one' },
  ssh_host_key: {
    ...textOrNull,
    description: 'The only key of the ssh server that is accepted; null without a deploy key',
  },
  production_environments: {
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'Globs of the environments whose deployments decide what is live; null for the default',
  },
  reports_on_pulls: {
    type: 'boolean',
    description:
      'Whether regressions are told on pull requests, by one comment each, and on merged commits, by a status',
  },
  report_error: {
    ...textOrNull,
    description: 'Why that fails, such as a scope that the token lacks; null if it succeeds or is off',
  },
  created_at: { type: 'string', format: 'date-time' },
} as const

const repositoryFields = [
  'id',
  'forge',
  'url',
  'path',
  'default_branch',
  'state',
  'incomplete',
  'unread_pulls_below',
  'webhook_url',
  'last_delivery_at',
  'rejected_deliveries',
  'last_rejected_at',
  'last_rejection',
  'last_sync_at',
  'sync_age_seconds',
  'stale',
  'last_error',
  'ssh_public_key',
  'ssh_host_key',
  'production_environments',
  'reports_on_pulls',
  'report_error',
  'created_at',
] as const

const repositoryExample = {
  id: 7,
  forge: 'github',
  url: 'https://github.com/acme/prompts.git',
  path: 'prompts/**/*.md',
  default_branch: 'main',
  state: 'following',
  incomplete: false,
  unread_pulls_below: null,
  webhook_url: 'https://ledger.example.com/webhooks/Xk2mPa9Qw4Rt6Yu8Io1Zx3Cv',
  last_delivery_at: '2026-11-14T16:05:02.000Z',
  rejected_deliveries: 0,
  last_rejected_at: null,
  last_rejection: null,
  last_sync_at: '2026-11-14T16:05:03.000Z',
  sync_age_seconds: 840,
  stale: false,
  last_error: null,
  ssh_public_key: null,
  ssh_host_key: null,
  production_environments: null,
  reports_on_pulls: false,
  report_error: null,
  created_at: '2026-11-01T08:00:00.000Z',
} as const

const exampleWithCounts = { ...repositoryExample, prompt_count: 12, entry_count: 348 } as const

const secretExample = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'

const repositorySchema = {
  title: 'Repository',
  description: 'A connected git repository',
  type: 'object',
  required: [...repositoryFields, 'prompt_count', 'entry_count'],
  properties: {
    ...repository,
    prompt_count: { type: 'integer', description: 'The number of prompts in the repository' },
    entry_count: { type: 'integer', description: 'The number of history entries of these prompts' },
  },
  additionalProperties: false,
} as const

export const oneRepositorySchema = {
  type: 'object',
  required: ['data'],
  properties: { data: repositorySchema },
  additionalProperties: false,
  description: 'The repository',
  examples: [{ data: exampleWithCounts }],
} as const

export const repositoryPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: repositorySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'One page of repositories',
  examples: [{ data: [exampleWithCounts], pagination: paginationExample(1) }],
} as const

export const updatedRepositorySchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: [...repositorySchema.required, 'warnings'],
      properties: { ...repositorySchema.properties, warnings },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The changed repository',
  examples: [{ data: { ...exampleWithCounts, url: 'https://github.com/acme/assistant-prompts.git', warnings: [] } }],
} as const

const promptFile = {
  type: 'object',
  required: ['id', 'path'],
  properties: { id: { type: 'string' }, path: textOrNull },
  additionalProperties: false,
} as const

const connected = {
  type: 'object',
  required: [...repositoryFields, 'webhook_secret', 'set_up', 'prompts', 'entries', 'warnings'],
  properties: {
    ...repository,
    webhook_secret: { type: 'string', description: 'Shown only once' },
    set_up: {
      type: 'array',
      items: { type: 'string' },
      description: 'The steps on the forge that set up the webhook; none for a folder, which needs no webhook',
    },
    prompts: { type: 'array', items: promptFile, description: 'The prompts found so far' },
    entries: { type: 'integer', description: 'The number of entries so far' },
    warnings,
  },
  additionalProperties: false,
} as const

export const connectedSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: connected },
  additionalProperties: false,
  description: 'The repository is connected',
  examples: [
    {
      data: {
        ...repositoryExample,
        last_delivery_at: null,
        webhook_secret: secretExample,
        set_up: forgeOf('github').setUpSteps({
          url: repositoryExample.webhook_url,
          secret: secretExample,
          webUrl: 'https://github.com/acme/prompts',
        }),
        prompts: [{ id: promptIdExample, path: 'prompts/support.md' }],
        entries: 12,
        warnings: [],
      },
    },
  ],
} as const

const rotatedSecret = {
  type: 'object',
  required: ['webhook_url', 'webhook_secret', 'old_secret_until'],
  properties: {
    webhook_url: { type: 'string' },
    webhook_secret: { type: 'string', description: 'Shown only once' },
    old_secret_until: { type: 'string', format: 'date-time', description: 'When the old secret expires' },
  },
  additionalProperties: false,
} as const

export const rotatedSecretSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: rotatedSecret },
  additionalProperties: false,
  description: 'The new secret',
  examples: [
    {
      data: {
        webhook_url: repositoryExample.webhook_url,
        webhook_secret: secretExample,
        old_secret_until: '2026-11-16T12:00:00.000Z',
      },
    },
  ],
} as const

const repositoryIdSchema = {
  type: 'integer',
  description: 'The id of the repository',
  examples: [repositoryExample.id],
} as const

export const repositoryParamsSchema = {
  type: 'object',
  required: ['repository_id'],
  properties: { repository_id: repositoryIdSchema },
} as const

export type RepositoryBody = FromSchema<typeof repositorySchema>
export type ConnectedBody = FromSchema<typeof connected>
export type RotatedSecretBody = FromSchema<typeof rotatedSecret>
