import type { FromSchema } from 'json-schema-to-ts'
import { deliveryStates } from '../server/src/domain/repositories/delivery.ts'
import { defaultSimilarity, forgeNames, repositoryStates } from '../server/src/domain/repositories/repository.ts'
import { alreadyConnected, repositoryBusy } from '../server/src/domain/repositories/repository-service.ts'
import { forgeOf } from '../server/src/forges/index.ts'
import { defineOperations } from './operation.ts'
import { promptIdExample } from './prompt-id.ts'
import {
  conflictSchema,
  errorBodySchema,
  invalidSchema,
  list,
  object,
  one,
  overlapSchema,
  pageQuerySchema,
  textOrNull,
  timeOrNull,
} from './schema.ts'

const warnings = {
  type: 'array',
  items: { type: 'string' },
  description: 'What is probably a mistake, such as prompt files that overlap with those of another repository',
} as const

/** The settings, as responses describe them. `settingFields` says how to set them, in the API and in the CLI. */
const settings = {
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
  proposes_reverts: {
    type: 'boolean',
    description: 'Whether a revert is proposed as a pull request as soon as people are told about a regression',
  },
  opens_issues: {
    type: 'boolean',
    description: 'Whether a change that made prompts worse gets an issue, which is closed when that is over',
  },
  briefs_pulls: {
    type: 'boolean',
    description: 'Whether open pull requests that change prompts get a comment for their reviewers',
  },
} as const

const settingExamples = {
  production_environments: null,
  reports_on_pulls: false,
  proposes_reverts: false,
  opens_issues: false,
  briefs_pulls: false,
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
  ...settings,
  report_error: {
    ...textOrNull,
    description:
      'Why comments on pull requests or issues fail, such as a scope that the token lacks; null if they succeed or are off',
  },
  delivery_error: {
    ...textOrNull,
    description: 'Why applications do not get some of its live texts; null if they get all of them',
  },
  created_at: { type: 'string', format: 'date-time' },
} as const

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
  ...settingExamples,
  report_error: null,
  delivery_error: null,
  created_at: '2026-11-01T08:00:00.000Z',
} as const

const exampleWithCounts = { ...repositoryExample, prompt_count: 12, entry_count: 348 } as const

const secretExample = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'

const repositorySchema = object(
  {
    ...repository,
    prompt_count: { type: 'integer', description: 'The number of prompts in the repository' },
    entry_count: { type: 'integer', description: 'The number of history entries of these prompts' },
  },
  { title: 'Repository', description: 'A connected git repository' },
)

export const oneRepositorySchema = one(repositorySchema, 'The repository', exampleWithCounts)

export const repositoryPageSchema = list(repositorySchema, 'One page of repositories', [exampleWithCounts])

export const updatedRepositorySchema = one(
  object({ ...repositorySchema.properties, warnings }),
  'The changed repository',
  { ...exampleWithCounts, url: 'https://github.com/acme/assistant-prompts.git', warnings: [] },
)

const promptFile = object({ id: { type: 'string' }, path: textOrNull })

const connected = object({
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
})

export const connectedSchema = one(connected, 'The repository is connected', {
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
})

const rotatedSecret = object({
  webhook_url: { type: 'string' },
  webhook_secret: { type: 'string', description: 'Shown only once' },
  old_secret_until: { type: 'string', format: 'date-time', description: 'When the old secret expires' },
})

export const rotatedSecretSchema = one(rotatedSecret, 'The new secret', {
  webhook_url: repositoryExample.webhook_url,
  webhook_secret: secretExample,
  old_secret_until: '2026-11-16T12:00:00.000Z',
})

const repositoryIdSchema = {
  type: 'integer',
  description: 'The id of the repository',
  examples: [repositoryExample.id],
} as const

export const repositoryParamsSchema = { repository_id: repositoryIdSchema } as const

export type SettingsBody = FromSchema<{
  type: 'object'
  properties: typeof settings
  required: (keyof typeof settings)[]
}>

export type RepositoryBody = FromSchema<typeof repositorySchema>

export type ConnectedBody = FromSchema<typeof connected>

export type RotatedSecretBody = FromSchema<typeof rotatedSecret>

const urlDescription = 'https://…, ssh://… or git@host:path. Plain http:// needs `ALLOW=http-repositories`'

export const settingFields = {
  production_environments: {
    type: ['array', 'null'],
    items: { type: 'string' },
    description:
      'Globs of the environments whose deployments decide what is live, such as `production` or `prod-*`. Null for the default: ' +
      'what the forge calls production, and environments named production, prod or live. With an empty list, merges decide',
  },
  reports_on_pulls: {
    type: 'boolean',
    description:
      'Tell regressions on the pull request that caused them, by one comment, and on the merged commit, by a status. The token needs ' +
      'to write both',
  },
  proposes_reverts: {
    type: 'boolean',
    description:
      'Propose a revert as a pull request as soon as people are told about a regression. Never merges it. The token needs to push branches ' +
      'and to open pull requests',
  },
  opens_issues: {
    type: 'boolean',
    description:
      'Open an issue for each change that made prompts worse, and close it with a comment when that is over. The token needs to write issues. ' +
      'Not on Bitbucket',
  },
  briefs_pulls: {
    type: 'boolean',
    description:
      'Comment on open pull requests that change prompts, once each: the rate today, what earlier changes to the same lines did, reverted text that ' +
      'comes back, hidden characters, and how many days a verdict will take. The token needs to write comments',
  },
} as const

const newRepositorySchema = {
  title: 'NewRepository',
  description: 'A repository to connect',
  type: 'object',
  required: ['forge', 'url', 'path'],
  properties: {
    forge: { enum: forgeNames },
    url: { type: 'string', description: urlDescription },
    path: { type: 'string', description: 'A glob that selects the prompt files, such as prompts/**/*.md' },
    token: { ...textOrNull, description: 'An access token, if the repository is not public' },
    ssh_key: {
      ...textOrNull,
      description:
        "A private key in OpenSSH's format without a passphrase, for a repository that is fetched over ssh. Never returned",
    },
    generate_ssh_key: {
      type: 'boolean',
      default: false,
      description: 'Generate a key pair for ssh. Add `ssh_public_key` to the repository on the forge',
    },
    ssh_host_key: {
      ...textOrNull,
      description:
        'The key of the ssh server, such as `ssh-ed25519 AAAAC3…`. By default, the one that it has when you connect. Needs ' +
        '`ssh_key` or `generate_ssh_key`',
    },
    similarity: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: defaultSimilarity,
      description:
        'The minimum similarity, in percent, for a file that was moved and edited to keep its prompt. At 100, only files ' +
        'that are moved without edits do',
    },
    ...settingFields,
    reports_on_pulls: { ...settingFields.reports_on_pulls, default: false },
    proposes_reverts: { ...settingFields.proposes_reverts, default: false },
    opens_issues: { ...settingFields.opens_issues, default: false },
    briefs_pulls: { ...settingFields.briefs_pulls, default: false },
  },
  examples: [{ forge: 'github', url: 'https://github.com/acme/prompts.git', path: 'prompts/**/*.md' }],
} as const

const repositoryUpdateSchema = {
  title: 'RepositoryUpdate',
  description: 'What to change about a repository',
  type: 'object',
  minProperties: 1,
  properties: {
    url: { type: 'string', description: `The new URL of the same repository: ${urlDescription}` },
    token: {
      ...textOrNull,
      description: 'A new access token. Null removes it. Required if the new URL is on another server than the old one',
    },
    ssh_key: {
      type: 'string',
      description: "A new private key in OpenSSH's format without a passphrase. Never returned",
    },
    ssh_host_key: {
      type: 'string',
      description:
        'The new key of the ssh server, such as `ssh-ed25519 AAAAC3…`. By default, the recorded one, or that of the new server',
    },
    ...settingFields,
  },
  examples: [{ url: 'https://github.com/acme/assistant-prompts.git' }],
} as const

export type NewRepositoryBody = FromSchema<typeof newRepositorySchema>

export type RepositoryUpdateBody = FromSchema<typeof repositoryUpdateSchema>

const deliverySchema = object(
  {
    id: { type: 'integer' },
    event: { type: 'string' },
    state: { enum: deliveryStates },
    attempts: { type: 'integer' },
    error: { type: ['string', 'null'], description: 'Why the last attempt failed' },
    received_at: { type: 'string', format: 'date-time' },
    next_attempt_at: timeOrNull,
    finished_at: timeOrNull,
  },
  { title: 'Delivery', description: 'A webhook delivery from a forge' },
)

const deliveryExample = {
  id: 512,
  event: 'push',
  state: 'pending',
  attempts: 1,
  error: null,
  received_at: '2026-11-14T16:05:02.000Z',
  next_attempt_at: '2026-11-15T12:00:00.000Z',
  finished_at: null,
} as const

export const deliveryPageSchema = list(deliverySchema, 'One page of deliveries, newest first', [
  { ...deliveryExample, state: 'done', next_attempt_at: null, finished_at: '2026-11-14T16:05:03.000Z' },
])

export const oneDeliverySchema = one(deliverySchema, 'The delivery is queued again', deliveryExample)

const deliveryParamsSchema = {
  ...repositoryParamsSchema,
  delivery_id: { type: 'integer', description: 'The id of the delivery', examples: [deliveryExample.id] },
} as const

export type DeliveryBody = FromSchema<typeof deliverySchema>

export const operations = defineOperations('Repositories', {
  listDeliveries: {
    method: 'GET',
    path: '/api/v1/repositories/:repository_id/deliveries',
    client: 'repositories.deliveries',
    summary: 'List deliveries',
    description: 'The newest 1,000 webhook deliveries, newest first.',
    roles: ['admin'],
    params: repositoryParamsSchema,
    query: pageQuerySchema,
    response: { 200: deliveryPageSchema },
  },

  redeliver: {
    method: 'POST',
    path: '/api/v1/repositories/:repository_id/deliveries/:delivery_id/redeliver',
    client: 'repositories.redeliver',
    idempotent: true,
    summary: 'Redeliver',
    description: 'Processes a stored delivery again.',
    roles: ['admin'],
    params: deliveryParamsSchema,
    response: { 202: oneDeliverySchema, 409: errorBodySchema },
  },

  listRepositories: {
    method: 'GET',
    path: '/api/v1/repositories',
    client: 'repositories.list',
    summary: 'List repositories',
    description: 'In the order in which they were connected.',
    roles: ['admin'],
    query: pageQuerySchema,
    response: { 200: repositoryPageSchema },
  },

  connectRepository: {
    method: 'POST',
    path: '/api/v1/repositories',
    client: 'repositories.connect',
    // The service reads the repository from the forge before it responds.
    timeoutMs: 60_000,
    summary: 'Connect a repository',
    description:
      'Creates a prompt for each matching file and backfills its history. Waits up to 5 s for the backfill, which ' +
      'then continues in the background: see `state`. Responds with 422 if git cannot read the repository. A slow git ' +
      'server can delay the response by two minutes. It is safe to repeat the request: with the same key and body ' +
      'while the first one is running, both get the same response, and afterwards the repeated one gets 409. Only this ' +
      'response has the webhook secret.',
    roles: ['admin'],
    body: newRepositorySchema,
    response: {
      201: connectedSchema,
      409: conflictSchema(alreadyConnected().message),
      422: invalidSchema('forge is required'),
    },
  },

  getRepository: {
    method: 'GET',
    path: '/api/v1/repositories/:repository_id',
    client: 'repositories.get',
    summary: 'Get a repository',
    roles: ['admin'],
    params: repositoryParamsSchema,
    response: { 200: oneRepositorySchema },
  },

  updateRepository: {
    method: 'PATCH',
    path: '/api/v1/repositories/:repository_id',
    client: 'repositories.update',
    // It also compares the history there with the known one.
    timeoutMs: 180_000,
    summary: 'Change a repository',
    description:
      'Changes its URL, after it was renamed or moved, its credentials, which environments are production, or which comments pull requests get. Webhook, secret, prompts and history stay. ' +
      'Responds with 422 if git cannot read the repository, or if it has no commit in common with the known history.',
    roles: ['admin'],
    params: repositoryParamsSchema,
    body: repositoryUpdateSchema,
    response: {
      200: updatedRepositorySchema,
      409: conflictSchema(repositoryBusy().message),
      422: invalidSchema('token must be a string or null'),
    },
  },

  disconnectRepository: {
    method: 'DELETE',
    path: '/api/v1/repositories/:repository_id',
    client: 'repositories.disconnect',
    summary: 'Disconnect a repository',
    description: 'Stops syncing. Prompts and history stay.',
    roles: ['admin'],
    params: repositoryParamsSchema,
    response: { 204: { type: 'null', description: 'The repository is disconnected' } },
  },

  syncRepository: {
    method: 'POST',
    path: '/api/v1/repositories/:repository_id/sync',
    client: 'repositories.sync',
    idempotent: true,
    summary: 'Sync a repository now',
    description: 'Requests a sync and responds before it is done.',
    roles: ['admin'],
    params: repositoryParamsSchema,
    response: { 202: oneRepositorySchema, 409: errorBodySchema },
  },

  rotateRepositorySecret: {
    method: 'POST',
    path: '/api/v1/repositories/:repository_id/rotate-secret',
    client: 'repositories.rotateSecret',
    summary: 'Rotate the webhook secret',
    description:
      'The old secret stays valid during the overlap, 24 hours by default. Only this response has the new one.',
    roles: ['admin'],
    params: repositoryParamsSchema,
    body: overlapSchema('secret'),
    response: { 200: rotatedSecretSchema, 422: invalidSchema('overlap_hours must be >= 0') },
  },
})
