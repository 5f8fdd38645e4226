import type { FromSchema } from 'json-schema-to-ts'
import { deliveryStates } from '../../domain/repositories/delivery.ts'
import { paginationExample, paginationSchema } from '../page-schema.ts'
import { repositoryParamsSchema } from './schema.ts'

const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

const deliverySchema = {
  title: 'Delivery',
  description: 'A webhook delivery from a forge',
  type: 'object',
  required: ['id', 'event', 'state', 'attempts', 'error', 'received_at', 'next_attempt_at', 'finished_at'],
  properties: {
    id: { type: 'integer' },
    event: { type: 'string' },
    state: { enum: deliveryStates },
    attempts: { type: 'integer' },
    error: { type: ['string', 'null'], description: 'Why the last attempt failed' },
    received_at: { type: 'string', format: 'date-time' },
    next_attempt_at: timeOrNull,
    finished_at: timeOrNull,
  },
  additionalProperties: false,
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

export const deliveryPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: deliverySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'One page of deliveries, newest first',
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
  description: 'The delivery is queued again',
  examples: [{ data: deliveryExample }],
} as const

export const deliveryParamsSchema = {
  type: 'object',
  required: ['repository_id', 'delivery_id'],
  properties: {
    ...repositoryParamsSchema.properties,
    delivery_id: { type: 'integer', description: 'The id of the delivery', examples: [deliveryExample.id] },
  },
} as const

export type DeliveryBody = FromSchema<typeof deliverySchema>
