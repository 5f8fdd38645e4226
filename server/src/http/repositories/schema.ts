import type { FromSchema } from 'json-schema-to-ts'
import { deliveryStates } from '../../domain/repositories/delivery.ts'
import { forgeNames, repositoryStates } from '../../domain/repositories/repository.ts'
import { paginationExample, paginationSchema } from '../page-schema.ts'
import { promptIdExample } from '../prompts/id-schema.ts'

const textOrNull = { type: ['string', 'null'] } as const
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

export const newRepositorySchema = {
  title: 'NewRepository',
  type: 'object',
  required: ['forge', 'url', 'path'],
  properties: {
    forge: { enum: forgeNames },
    url: { type: 'string', description: 'https://…, ssh://… or git@host:path' },
    path: { type: 'string', description: 'Which files are prompts, such as prompts/**/*.md' },
    token: { ...textOrNull, description: 'To read the repository with, where it is not public' },
    similarity: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 100,
      description: 'How much of a file must stay, in per cent, for a move with changes to keep its prompt',
    },
  },
  examples: [{ forge: 'github', url: 'https://github.com/acme/prompts.git', path: 'prompts/**/*.md' }],
} as const

const repository = {
  id: { type: 'integer' },
  forge: { enum: forgeNames },
  url: { type: 'string' },
  path: { type: 'string' },
  default_branch: { ...textOrNull, description: 'Null as long as there is no commit' },
  state: { enum: repositoryStates },
  incomplete: { type: 'boolean', description: 'The repository was given to us without its oldest commits' },
  webhook_url: { type: 'string', description: 'Where the forge is to send its deliveries' },
  last_delivery_at: timeOrNull,
  last_sync_at: timeOrNull,
  last_error: { ...textOrNull, description: 'Why the last sync failed' },
  created_at: { type: 'string', format: 'date-time' },
} as const

const repositoryNames = [
  'id',
  'forge',
  'url',
  'path',
  'default_branch',
  'state',
  'incomplete',
  'webhook_url',
  'last_delivery_at',
  'last_sync_at',
  'last_error',
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
  webhook_url: 'https://ledger.example.com/webhooks/Xk2mPa9Qw4Rt6Yu8Io1Zx3Cv',
  last_delivery_at: '2026-11-14T16:05:02.000Z',
  last_sync_at: '2026-11-14T16:05:03.000Z',
  last_error: null,
  created_at: '2026-11-01T08:00:00.000Z',
} as const

const sizedExample = { ...repositoryExample, prompt_count: 12, entry_count: 348 } as const

const secretExample = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'

export const repositorySchema = {
  title: 'Repository',
  type: 'object',
  required: [...repositoryNames, 'prompt_count', 'entry_count'],
  properties: {
    ...repository,
    prompt_count: { type: 'integer', description: 'How many prompts have their file in it' },
    entry_count: { type: 'integer', description: 'How many entries the history of these prompts has' },
  },
  additionalProperties: false,
} as const

export const oneRepositorySchema = {
  type: 'object',
  required: ['data'],
  properties: { data: repositorySchema },
  additionalProperties: false,
  description: 'The repository',
  examples: [{ data: sizedExample }],
} as const

export const repositoryPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: repositorySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'The repositories of the page',
  examples: [{ data: [sizedExample], pagination: paginationExample(1) }],
} as const

const promptFile = {
  type: 'object',
  required: ['id', 'path'],
  properties: { id: { type: 'string' }, path: textOrNull },
  additionalProperties: false,
} as const

export const connectedSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: [...repositoryNames, 'webhook_secret', 'set_up', 'prompts', 'entries'],
      properties: {
        ...repository,
        webhook_secret: { type: 'string', description: 'Shown this once' },
        set_up: { type: 'array', items: { type: 'string' }, description: "What to do on the forge's pages" },
        prompts: { type: 'array', items: promptFile, description: 'Those found so far' },
        entries: { type: 'integer', description: 'Entries derived so far' },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The repository is followed',
  examples: [
    {
      data: {
        ...repositoryExample,
        last_delivery_at: null,
        webhook_secret: secretExample,
        set_up: [
          'Open https://github.com/acme/prompts/settings/hooks/new',
          `Payload URL: ${repositoryExample.webhook_url}, Content type: application/json, Secret: ${secretExample}`,
          'Choose "Let me select individual events" and tick Pushes and Pull requests.',
          'Leave Active ticked and press "Add webhook".',
        ],
        prompts: [{ id: promptIdExample, path: 'prompts/support.md' }],
        entries: 12,
      },
    },
  ],
} as const

export const rotatedSecretSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: ['webhook_url', 'webhook_secret', 'old_secret_until'],
      properties: {
        webhook_url: { type: 'string' },
        webhook_secret: { type: 'string', description: 'Shown this once' },
        old_secret_until: { type: 'string', format: 'date-time', description: 'Until when the old one counts too' },
      },
      additionalProperties: false,
    },
  },
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

const delivery = {
  id: { type: 'integer' },
  event: { type: 'string' },
  state: { enum: deliveryStates },
  attempts: { type: 'integer' },
  error: { ...textOrNull, description: 'Why it failed, or is tried again' },
  received_at: { type: 'string', format: 'date-time' },
  next_attempt_at: timeOrNull,
  finished_at: timeOrNull,
} as const

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

const deliverySchema = {
  title: 'Delivery',
  type: 'object',
  required: ['id', 'event', 'state', 'attempts', 'error', 'received_at', 'next_attempt_at', 'finished_at'],
  properties: delivery,
  additionalProperties: false,
} as const

export const deliveryPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: deliverySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'The deliveries of the page, newest first',
  examples: [
    {
      data: [{ ...deliveryExample, state: 'done', next_attempt_at: null, finished_at: '2026-11-14T16:05:03.000Z' }],
      pagination: paginationExample(1),
    },
  ],
} as const

export const oneDeliverySchema = {
  type: 'object',
  required: ['data'],
  properties: { data: deliverySchema },
  additionalProperties: false,
  description: 'The delivery is worked on once more',
  examples: [{ data: deliveryExample }],
} as const

const repositoryId = {
  type: 'integer',
  description: 'The id of the repository',
  examples: [repositoryExample.id],
} as const

export const repositoryParamsSchema = {
  type: 'object',
  required: ['repository_id'],
  properties: { repository_id: repositoryId },
} as const

export const deliveryParamsSchema = {
  type: 'object',
  required: ['repository_id', 'delivery_id'],
  properties: {
    repository_id: repositoryId,
    delivery_id: { type: 'integer', description: 'The id of the delivery', examples: [deliveryExample.id] },
  },
} as const

export type NewRepositoryBody = FromSchema<typeof newRepositorySchema>
export type RepositoryBody = FromSchema<typeof repositorySchema>
export type DeliveryBody = FromSchema<typeof deliverySchema>
