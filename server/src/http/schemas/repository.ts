import type { FromSchema } from 'json-schema-to-ts'
import { deliveryStates } from '../../domain/delivery.ts'
import { forgeNames, repositoryStates } from '../../domain/repository.ts'
import { paginationSchema } from './pagination.ts'

const textOrNull = { type: ['string', 'null'] } as const
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

export const newRepositorySchema = {
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

export const repositorySchema = {
  type: 'object',
  required: repositoryNames,
  properties: repository,
  additionalProperties: false,
} as const

export const oneRepositorySchema = {
  type: 'object',
  required: ['data'],
  properties: { data: repositorySchema },
  additionalProperties: false,
} as const

export const repositoryPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: repositorySchema }, pagination: paginationSchema },
  additionalProperties: false,
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
        old_secret_until: { type: 'string', format: 'date-time' },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
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

const deliverySchema = {
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
} as const

export const oneDeliverySchema = {
  type: 'object',
  required: ['data'],
  properties: { data: deliverySchema },
  additionalProperties: false,
} as const

export const repositoryParamsSchema = {
  type: 'object',
  required: ['repository_id'],
  properties: { repository_id: { type: 'integer' } },
} as const

export type NewRepositoryBody = FromSchema<typeof newRepositorySchema>
export type RepositoryBody = FromSchema<typeof repositorySchema>
export type DeliveryBody = FromSchema<typeof deliverySchema>
