import type { FromSchema } from 'json-schema-to-ts'
import { changeSides } from '../../domain/impact/change-signals.ts'
import { maxCommentLength } from '../../domain/signals/details.ts'
import { signalValues } from '../../domain/signals/signal.ts'
import { maxLabelLength } from '../../domain/signals/version.ts'
import { paginationExample, searchPaginationSchema } from '../page-schema.ts'
import { promptId } from '../prompts/id-schema.ts'

const value = { enum: signalValues } as const
const metadata = {
  type: ['object', 'null'],
  description: "Arbitrary JSON object for the caller's own tracking, up to 16 KiB and 64 levels deep",
} as const
const created_at = { type: 'string', format: 'date-time', description: 'ISO 8601 UTC timestamp' } as const

const label = { type: ['string', 'null'], minLength: 1, maxLength: maxLabelLength } as const

/** The optional members of a signal beside its metadata. */
const details = {
  version: {
    type: ['string', 'integer', 'null'],
    description:
      'The version of the prompt that produced the output: a commit SHA of 7 to 40 hexadecimal digits, or the ID of a history ' +
      'entry. Without it, `metadata["gen_ai.prompt.version"]` counts, and otherwise the version that was live',
  },
  subject: {
    ...label,
    description:
      'What was voted on, such as the ID of the output. A prompt has one vote per subject: a second request replaces the first',
  },
  voter: { ...label, description: 'Who voted. Only a keyed hash of it is stored' },
  comment: { type: ['string', 'null'], maxLength: maxCommentLength, description: "The user's words" },
  occurred_at: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When the user voted, up to 30 days ago. The signal counts for that time. Defaults to now',
  },
} as const

const newValue = {
  enum: [...signalValues, null],
  description: 'Null withdraws the vote on `subject`',
} as const

export const newSignalSchema = {
  title: 'NewSignal',
  description: "A user's opinion on an output of the prompt",
  type: 'object',
  required: ['value'],
  properties: { value: newValue, metadata, ...details },
  examples: [
    { value: 'positive', metadata: { session: 'b7d1', model: 'small-3' } },
    { value: 'positive', subject: 'answer-7c2e', version: '8f3a1c5', voter: 'user-42', comment: 'Short and clear.' },
  ],
} as const

export const signalHeadersSchema = {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'Visible ASCII characters. Repeating a request with the same key, prompt and body returns the first response; ' +
        'nothing more is stored or counted',
      examples: ['b7d1-0001'],
    },
    traceparent: {
      type: 'string',
      description: 'The trace of the output, as the W3C standard Trace Context defines it. A malformed one is ignored',
      examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    },
  },
} as const

export const maxBatchSignals = 1_000

export const batchItemSchema = {
  title: 'BatchSignal',
  description: 'One signal of a batch',
  type: 'object',
  required: ['prompt', 'value'],
  properties: {
    prompt: { type: 'string', description: 'The ID of the prompt, or its name or path' },
    ...newSignalSchema.properties,
    idempotency_key: {
      type: ['string', 'null'],
      description: 'Like the header `Idempotency-Key` of a single signal',
    },
    traceparent: { type: ['string', 'null'], description: 'Like the header `traceparent` of a single signal' },
  },
} as const

/** The items are validated one by one, so that a mistake in one does not reject the others. */
export const signalBatchSchema = {
  type: 'object',
  required: ['signals'],
  properties: { signals: { type: 'array', minItems: 1, maxItems: maxBatchSignals } },
} as const

export const documentedBatchSchema = {
  title: 'SignalBatch',
  description: 'Signals of any prompts',
  ...signalBatchSchema,
  properties: { signals: { ...signalBatchSchema.properties.signals, items: batchItemSchema } },
  examples: [
    {
      signals: [
        {
          prompt: 'pmt_9VqXw2LmT4cRy8Zk1AbC3dEf',
          value: 'positive',
          subject: 'answer-81f3',
          idempotency_key: 'b7d1-0001',
        },
        { prompt: 'prompts/support.md', value: 'negative', comment: 'Too long' },
      ],
    },
  ],
} as const

export const importedSignalSchema = {
  type: 'object',
  required: ['value', 'created_at'],
  properties: {
    value,
    metadata,
    created_at,
    version: { type: ['string', 'integer', 'null'] },
    subject: { type: ['string', 'null'], minLength: 1, maxLength: maxLabelLength },
    voter: { type: ['string', 'null'], minLength: 1, maxLength: maxLabelLength },
    comment: { type: ['string', 'null'], maxLength: maxCommentLength },
    occurred_at: { type: ['string', 'null'] },
    trace_id: { type: ['string', 'null'], pattern: '^[0-9a-f]{32}$' },
  },
} as const

const signal = {
  type: 'object',
  required: ['id', 'value', 'created_at'],
  properties: { id: { type: 'integer' }, value, created_at },
  additionalProperties: false,
} as const

const changedSignal = { ...signal, properties: { ...signal.properties, value: newValue } } as const

export const replacedSignalSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: changedSignal },
  additionalProperties: false,
  description: 'The vote on the subject is replaced or, with the value null, withdrawn. It was not counted again',
  examples: [{ data: { id: 31337, value: 'negative', created_at: '2026-11-15T12:00:00.000Z' } }],
} as const

export const batchResultSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'array',
      description: 'One result for each signal, in the same order',
      items: {
        title: 'BatchResult',
        description:
          'What a request with this signal alone would have returned: `data` if it is stored, and otherwise `error`',
        type: 'object',
        required: ['status'],
        properties: {
          status: { type: 'integer', description: 'The HTTP status, such as 201' },
          data: changedSignal,
          error: {
            type: 'object',
            required: ['code', 'message'],
            properties: { code: { type: 'string' }, message: { type: 'string' } },
          },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
  description: 'Every signal with status 200 or 201 is stored on disk',
  examples: [
    {
      data: [
        { status: 201, data: { id: 31337, value: 'positive', created_at: '2026-11-15T12:00:00.000Z' } },
        { status: 404, error: { code: 'not_found', message: 'Not found.' } },
      ],
    },
  ],
} as const

export const signalSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: signal },
  additionalProperties: false,
  description: 'The signal is stored on disk',
  examples: [{ data: { id: 31337, value: 'positive', created_at: '2026-11-15T12:00:00.000Z' } }],
} as const

export const storedSignalExample = {
  id: 31337,
  value: 'positive',
  metadata: { session: 'b7d1', model: 'small-3' },
  created_at: '2026-11-15T12:00:00.000Z',
  version: '8f3a1c5',
  subject: 'answer-42',
  voter: null,
  comment: 'Exactly what I needed',
  occurred_at: '2026-11-15T11:58:30.000Z',
  trace_id: null,
} as const

const storedSignalSchema = {
  title: 'Signal',
  description: 'A recorded signal',
  type: 'object',
  required: [
    'id',
    'value',
    'metadata',
    'created_at',
    'version',
    'subject',
    'voter',
    'comment',
    'occurred_at',
    'trace_id',
  ],
  properties: {
    id: { type: 'integer' },
    value,
    metadata,
    created_at: { ...created_at, description: 'When the signal arrived. It counts towards the limit of that month' },
    version: {
      type: ['string', 'integer', 'null'],
      description:
        'The version that produced the output: a commit SHA, the ID of a history entry (an integer) or a label',
    },
    subject: { type: ['string', 'null'], description: 'What was voted on' },
    voter: { type: ['string', 'null'], description: 'A hash of who voted. The same voter has the same hash' },
    comment: { type: ['string', 'null'], description: "The user's words. Untrusted text" },
    occurred_at: { ...created_at, description: 'When the user voted: the time that the signal counts for' },
    trace_id: { type: ['string', 'null'], description: 'The trace ID of the header traceparent' },
  },
  additionalProperties: false,
} as const

const searchSchema = {
  title: 'SignalSearch',
  description: 'How far a search got. Only with a filter on `comment`, `q` or metadata',
  type: 'object',
  required: ['complete', 'examined', 'searched_back_to', 'cursor'],
  properties: {
    complete: { type: 'boolean', description: 'Whether no older signals are left to examine' },
    examined: { type: 'integer', description: 'Signals examined by this request' },
    searched_back_to: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Signals from before this time are not examined yet; null if complete',
    },
    cursor: { type: ['string', 'null'], description: 'Send as `cursor` to continue; null if complete' },
  },
  additionalProperties: false,
} as const

const changeSchema = {
  title: 'SignalsOfChange',
  description: 'What the impact of the change counts. Only with `change`',
  type: 'object',
  required: ['entry_id', 'side', 'counted', 'removed'],
  properties: {
    entry_id: { type: 'integer', description: 'The ID of the history entry' },
    side: { enum: changeSides },
    counted: { type: 'integer', description: 'All signals of this side in the impact, whatever other filters select' },
    removed: {
      type: 'integer',
      description: 'Of these, how many retention has removed. They still count, and cannot be listed',
    },
  },
  additionalProperties: false,
} as const

export const signalPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: {
    data: { type: 'array', items: storedSignalSchema },
    pagination: searchPaginationSchema,
    search: searchSchema,
    change: changeSchema,
  },
  additionalProperties: false,
  description: 'One page of signals, newest first',
  examples: [{ data: [storedSignalExample], pagination: paginationExample(1) }],
} as const

export const signalParamsSchema = {
  type: 'object',
  required: ['prompt_id', 'signal_id'],
  properties: {
    prompt_id: promptId,
    signal_id: { type: 'integer', description: 'The ID of the signal', examples: [storedSignalExample.id] },
  },
} as const

export type ImportedSignal = FromSchema<typeof importedSignalSchema>
export type NewSignalBody = FromSchema<typeof newSignalSchema>
export type BatchItem = FromSchema<typeof batchItemSchema>
