import type { FromSchema } from 'json-schema-to-ts'
import {
  adapterNames,
  maxSources,
  maxSourceValues,
  sourceFields,
  tooManySources,
} from '../server/src/domain/sources/source.ts'
import { defineOperations } from './operation.ts'
import {
  conflictSchema,
  errorBodySchema,
  errorSchema,
  invalidSchema,
  list,
  object,
  one,
  pageQuerySchema,
  rateLimitedBodySchema,
  textOrNull,
  time,
  timeOrNull,
} from './schema.ts'

const path = {
  type: 'string',
  minLength: 1,
  maxLength: 500,
  description: 'A JSONPath (RFC 9535) of one value, such as `$.data.rating`',
} as const

const fieldDescriptions: Record<(typeof sourceFields)[number], string> = {
  events: 'The events, if a request has several: an array. The other paths then start at one of them',
  prompt: 'The ID, name or path of the prompt',
  value: 'The vote',
  subject: 'What was voted on: a later vote on it replaces the earlier one',
  voter: 'Who voted, which is stored as a hash',
  version: 'The version of the prompt: a commit, or a label',
  comment: 'What the user wrote',
  time: 'When the user voted: ISO 8601, or seconds or milliseconds since 1970',
  id: 'What identifies the event: one that is sent twice counts once',
}

const fields = {
  type: 'object',
  description: 'Where fields are in an event, instead of where the adapter expects them',
  properties: Object.fromEntries(
    sourceFields.map((field) => [field, { ...path, description: fieldDescriptions[field] }]),
  ) as Record<(typeof sourceFields)[number], typeof path>,
  additionalProperties: false,
} as const

function values(vote: string) {
  return {
    type: 'array',
    maxItems: maxSourceValues,
    items: { type: 'string', minLength: 1, maxLength: 200 },
    description: `Values that count as ${vote}, beside those that the adapter knows`,
  } as const
}

const settings = {
  name: { type: 'string', description: 'A label that identifies the source' },
  prompt: {
    type: ['string', 'null'],
    maxLength: 1_000,
    description: 'The ID, name or path of the prompt of events that name none',
  },
  fields,
  positive_values: values('positive'),
  negative_values: values('negative'),
  midpoint: {
    type: ['number', 'null'],
    description: 'Numbers above it count as positive, and those below as negative. Null if the adapter decides',
  },
  base_url: {
    type: ['string', 'null'],
    maxLength: 1_000,
    description: 'The URL of Langfuse, which is polled instead of sending events, such as `https://cloud.langfuse.com`',
  },
  score: { type: ['string', 'null'], maxLength: 200, description: 'Only scores of this name of Langfuse are votes' },
} as const

const secret = {
  type: 'string',
  minLength: 1,
  maxLength: 500,
  description:
    'The signing secret that Slack, Intercom or Zendesk shows, or the keys of Langfuse as `public:secret`. Stored encrypted, and ' +
    'never returned',
} as const

const sourceSchema = object(
  {
    id: { type: 'string', description: 'Starts with src_' },
    ...settings,
    adapter: { enum: adapterNames },
    url: { type: 'string', description: 'Receives the events' },
    has_secret: { type: 'boolean', description: 'False until the secret of the product is set: events are rejected' },
    created_at: time,
    received: { type: 'integer', description: 'Events that arrived' },
    recorded: { type: 'integer', description: 'Events that were recorded as signals' },
    rejected: {
      type: 'integer',
      description: 'Events that could not be recorded, and requests that were not authentic',
    },
    last_received_at: timeOrNull,
    last_recorded_at: timeOrNull,
    last_rejected_at: timeOrNull,
    last_rejection: { ...textOrNull, description: 'Why the last one was rejected' },
  },
  { title: 'Source', description: 'A product that sends feedback, which is recorded as signals' },
)

const addedSource = object(
  {
    ...sourceSchema.properties,
    secret: { ...textOrNull, description: 'Shown only once. Null if the product generates it' },
  },
  { title: 'AddedSource', description: 'A new source, with its secret' },
)

const sourceIdExample = 'src_5Wd1nRb7Tz3Gk9Lq2Vx8Jm4C'

const settingsExample = {
  name: 'Support chat',
  prompt: 'Support answers',
  fields: { value: '$.rating', subject: '$.message_id', comment: '$.comment', time: '$.at' },
  positive_values: ['helpful'],
  negative_values: ['not helpful'],
  midpoint: null,
  base_url: null,
  score: null,
} as const

const sourceExample = {
  id: sourceIdExample,
  ...settingsExample,
  adapter: 'webhook',
  url: `https://ledger.example/api/v1/sources/${sourceIdExample}/events`,
  has_secret: true,
  created_at: '2026-11-15T12:00:00.000Z',
  received: 42,
  recorded: 40,
  rejected: 2,
  last_received_at: '2026-11-15T12:30:00.000Z',
  last_recorded_at: '2026-11-15T12:30:00.000Z',
  last_rejected_at: '2026-11-15T12:10:00.000Z',
  last_rejection: 'the value "meh" is not known',
} as const

const newSourceSchema = {
  title: 'NewSource',
  description: `A source to add. An organisation has at most ${maxSources}`,
  type: 'object',
  required: ['name', 'adapter'],
  properties: { ...settings, adapter: sourceSchema.properties.adapter, secret },
  examples: [{ ...settingsExample, adapter: 'webhook' }],
} as const

const sourceUpdateSchema = {
  title: 'SourceUpdate',
  description: 'What to change; everything else stays',
  type: 'object',
  properties: { ...settings, secret },
  examples: [{ prompt: 'Support answers' }],
} as const

const receivedEvents = object(
  {
    received: { type: 'integer', description: 'Events in the request' },
    recorded: { type: 'integer' },
    repeated: {
      type: 'integer',
      description:
        'Sent before, or a newer vote on the same subject, which replaces the earlier one. Not counted again',
    },
    ignored: { type: 'integer', description: 'Not feedback, or neither positive nor negative' },
    rejected: { type: 'integer' },
    errors: {
      type: 'array',
      items: object({
        event: { type: 'integer', description: 'The place in the request, from 0' },
        message: { type: 'string' },
      }),
      description: 'Why the first ten were rejected',
    },
  },
  { title: 'ReceivedEvents', description: 'What became of the events of a request' },
)

const params = {
  source_id: { type: 'string', description: 'The ID of the source', examples: [sourceIdExample] },
} as const

export type SourceBody = FromSchema<typeof sourceSchema>

export type AddedSourceBody = FromSchema<typeof addedSource>

export type NewSourceBody = FromSchema<typeof newSourceSchema>

export type SourceUpdateBody = FromSchema<typeof sourceUpdateSchema>

export type ReceivedEventsBody = FromSchema<typeof receivedEvents>

const notAuthentic = 'The request is not authentic: the signature is missing: header x-promptledger-signature.'

const oneSource = one(sourceSchema, 'The source', sourceExample)

export const operations = defineOperations('Sources', {
  listSources: {
    method: 'GET',
    path: '/api/v1/sources',
    client: 'sources.list',
    summary: 'List sources',
    description: 'In the order in which they were added.',
    roles: ['admin'],
    query: pageQuerySchema,
    response: { 200: list(sourceSchema, 'One page of sources', [sourceExample]) },
  },

  addSource: {
    method: 'POST',
    path: '/api/v1/sources',
    client: 'sources.add',
    summary: 'Add a source',
    description:
      'Feedback that the product sends to `url` is then recorded as signals. The response contains the secret that ' +
      'authenticates the requests, which is shown only once, unless the product generates it.',
    roles: ['admin'],
    body: newSourceSchema,
    response: {
      201: one(addedSource, 'The source is added', {
        ...sourceExample,
        received: 0,
        recorded: 0,
        rejected: 0,
        last_received_at: null,
        last_recorded_at: null,
        last_rejected_at: null,
        last_rejection: null,
        secret: 'pls_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8',
      }),
      409: conflictSchema(tooManySources().message),
      422: invalidSchema('name is required'),
    },
  },

  getSource: {
    method: 'GET',
    path: '/api/v1/sources/:source_id',
    client: 'sources.get',
    summary: 'Get a source',
    roles: ['admin'],
    params,
    response: { 200: oneSource },
  },

  updateSource: {
    method: 'PATCH',
    path: '/api/v1/sources/:source_id',
    client: 'sources.update',
    summary: 'Change a source',
    description: 'Everything but the adapter can be changed. Signals that were recorded stay as they are.',
    roles: ['admin'],
    params,
    body: sourceUpdateSchema,
    response: { 200: oneSource, 422: invalidSchema('midpoint must be a number or null') },
  },

  removeSource: {
    method: 'DELETE',
    path: '/api/v1/sources/:source_id',
    client: 'sources.remove',
    summary: 'Remove a source',
    description: 'Its URL no longer accepts events. The signals that it recorded stay.',
    roles: ['admin'],
    params,
    response: { 204: { type: 'null', description: 'The source is removed' } },
  },

  receiveEvents: {
    method: 'POST',
    path: '/api/v1/sources/:source_id/events',
    summary: 'Receive the events of a source',
    description:
      'For the product, up to 1 MiB and 1,000 events. Authenticated as the product does it instead of by a key: see ' +
      'docs/sources.md. A repeated request changes nothing. Events that cannot be recorded are rejected one by one, with a ' +
      'reason, and the rest is recorded.',
    batch: true,
    changesSignals: true,
    security: ['source_signature', 'source_secret', 'slack', 'intercom', 'zendesk'],
    params,
    body: { type: 'object', description: "The product's payload", examples: [{ rating: 'up', message_id: 'm-1' }] },
    response: {
      200: one(receivedEvents, 'The events are recorded', {
        received: 2,
        recorded: 1,
        repeated: 0,
        ignored: 0,
        rejected: 1,
        errors: [{ event: 1, message: 'the value "meh" is not known' }],
      }),
      401: errorSchema('unauthorized', notAuthentic),
      404: errorBodySchema,
      422: invalidSchema('The body is not valid JSON'),
      429: rateLimitedBodySchema,
      500: errorBodySchema,
    },
  },
})
