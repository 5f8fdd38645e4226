import type { FromSchema } from 'json-schema-to-ts'
import { channels } from '../../domain/alerts/alert.ts'
import { alertDeliveryStates } from '../../domain/alerts/delivery.ts'
import { deliveryEvents } from '../../domain/alerts/event.ts'
import { paginationExample, paginationSchema } from '../page-schema.ts'
import { promptIdExample } from '../prompts/id-schema.ts'

const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const
const textOrNull = { type: ['string', 'null'] } as const

/** The alert that a delivery goes to. */
const recipient = {
  type: 'object',
  required: ['id', 'name', 'channel'],
  properties: { id: { type: 'string' }, name: { type: 'string' }, channel: { enum: channels } },
  additionalProperties: false,
} as const

const concernedPrompt = {
  type: 'object',
  required: ['id', 'name', 'regression_id'],
  properties: {
    id: { type: 'string', description: 'The public ID (prefix pmt_)' },
    name: { type: 'string' },
    regression_id: { type: ['integer', 'null'], description: 'Null if the rate moved without a change' },
  },
  additionalProperties: false,
} as const

/** Whether a message goes to an alert, or is a comment on a pull request. */
export const destinationSchema = { enum: ['alert', 'pull_request'] } as const

export const deliverySchema = {
  title: 'AlertDelivery',
  description: 'One message to one alert, or to a pull request',
  type: 'object',
  required: [
    'id',
    'destination',
    'alert',
    'event',
    'prompts',
    'state',
    'attempts',
    'status',
    'response',
    'error',
    'created_at',
    'next_attempt_at',
    'finished_at',
  ],
  properties: {
    id: { type: 'string', description: 'Starts with msg_. The same in every attempt, so that receivers recognise it' },
    destination: destinationSchema,
    alert: {
      anyOf: [recipient, { type: 'null' }],
      description: 'Null for a comment on a pull request, and if the alert was removed',
    },
    event: {
      enum: deliveryEvents,
      description: '`regression.dismissed` only resolves incidents of PagerDuty and updates comments on pull requests',
    },
    prompts: { type: 'array', items: concernedPrompt, description: 'The prompts that it is about, at most ten' },
    state: {
      enum: alertDeliveryStates,
      description:
        '`pending` while attempts are left, `failed` after 3 days, `cancelled` if the alert was removed or the message is no ' +
        'longer true',
    },
    attempts: { type: 'integer' },
    status: {
      type: ['integer', 'null'],
      description: 'The HTTP status of the last response, or the reply code of the mail server',
    },
    response: { ...textOrNull, description: 'The beginning of the last response, as one line' },
    error: { ...textOrNull, description: 'Why the last attempt failed' },
    created_at: { type: 'string', format: 'date-time' },
    next_attempt_at: timeOrNull,
    finished_at: timeOrNull,
  },
  additionalProperties: false,
} as const

export const alertIdExample = 'alr_7Kq2mPa9Qw4Rt6Yu8Io1Zx3C'
const deliveryIdExample = 'msg_9Pa3Sd6Fg0Hj4Kl8Zx2Cv5Bn'

export const deliveryExample = {
  id: deliveryIdExample,
  destination: 'alert',
  alert: { id: alertIdExample, name: 'Support team', channel: 'webhook' },
  event: 'regression.opened',
  prompts: [{ id: promptIdExample, name: 'Support answers', regression_id: 5 }],
  state: 'sent',
  attempts: 1,
  status: 204,
  response: '',
  error: null,
  created_at: '2026-11-15T03:20:00.000Z',
  next_attempt_at: null,
  finished_at: '2026-11-15T03:20:01.000Z',
} as const

export const alertDeliveryPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: deliverySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'One page of deliveries, newest first',
  examples: [{ data: [deliveryExample], pagination: paginationExample(1) }],
} as const

export const oneAlertDeliverySchema = {
  type: 'object',
  required: ['data'],
  properties: { data: deliverySchema },
  additionalProperties: false,
  description: 'The delivery is queued again',
  examples: [
    {
      data: {
        ...deliveryExample,
        state: 'pending',
        attempts: 0,
        status: null,
        response: null,
        next_attempt_at: '2026-11-15T12:00:00.000Z',
        finished_at: null,
      },
    },
  ],
} as const

export const alertDeliveryParamsSchema = {
  type: 'object',
  required: ['message_id'],
  properties: {
    message_id: { type: 'string', description: 'The ID of the delivery', examples: [deliveryIdExample] },
  },
} as const

export type AlertDeliveryBody = FromSchema<typeof deliverySchema>
