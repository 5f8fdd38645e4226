import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles, signalRoles } from '../server/src/domain/access/api-key.ts'
import { changeSides } from '../server/src/domain/impact/reading/change-signals.ts'
import { maxCommentLength } from '../server/src/domain/signals/details.ts'
import { intervals } from '../server/src/domain/signals/interval.ts'
import { maxBatchSignals, signalValues } from '../server/src/domain/signals/signal.ts'
import { maxLabelLength } from '../server/src/domain/signals/version.ts'
import { defineOperations, shared } from './operation.ts'
import { promptId, promptParamsSchema } from './prompt-id.ts'
import {
  crossOriginMessage,
  errorSchema,
  exportFormats,
  invalidSchema,
  invalidTimeSchema,
  object,
  one,
  pageQuerySchema,
  paginationExample,
  periodQuerySchema,
  rateLimitedBodySchema,
  searchPaginationSchema,
  withHeaders,
} from './schema.ts'

const rateLimitHeaders = {
  'RateLimit-Limit': { description: "The plan's monthly signal limit", schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Signals left in the current month', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the counter resets', schema: { type: 'integer' } },
}

export const tally = {
  positive: { type: 'integer' },
  negative: { type: 'integer' },
} as const

const tallied = ['positive', 'negative'] as const

export const intervalTally = object(
  { start: { type: 'string', format: 'date-time' }, ...tally },
  { shared: ['start', ...tallied] },
)

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

const signalHeadersSchema = {
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
} as const

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

/** A signal that names its prompt by the call that produced the output. */
export const tracedItemSchema = {
  ...batchItemSchema,
  required: ['value'],
  properties: {
    ...batchItemSchema.properties,
    trace_id: {
      type: ['string', 'null'],
      pattern: '^[0-9a-f]{32}$',
      description:
        'Instead of `prompt`: the trace of the output, 32 hexadecimal digits. The span that OpenTelemetry sent of it says which prompt and version it is',
    },
    response_id: {
      ...label,
      description: 'Instead of `prompt`: the ID of the response, as in `gen_ai.response.id` of its span',
    },
  },
} as const

/** The items are validated one by one, so that a mistake in one does not reject the others. */
export const signalBatchSchema = {
  type: 'object',
  required: ['signals'],
  properties: { signals: { type: 'array', minItems: 1, maxItems: maxBatchSignals } },
} as const

const documentedBatchSchema = {
  title: 'SignalBatch',
  description: 'Signals of any prompts',
  ...signalBatchSchema,
  properties: { signals: { ...signalBatchSchema.properties.signals, items: tracedItemSchema } },
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
        { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', value: 'positive' },
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

const signal = object({ id: { type: 'integer' }, value, created_at })

const changedSignal = { ...signal, properties: { ...signal.properties, value: newValue } } as const

const replacedSignalSchema = one(
  changedSignal,
  'The vote on the subject is replaced or, with the value null, withdrawn. It was not counted again',
  { id: 31337, value: 'negative', created_at: '2026-11-15T12:00:00.000Z' },
)

const batchResultSchema = one(
  {
    type: 'array',
    description: 'One result for each signal, in the same order',
    items: object(
      {
        status: { type: 'integer', description: 'The HTTP status, such as 201' },
        data: changedSignal,
        error: {
          type: 'object',
          required: ['code', 'message'],
          properties: { code: { type: 'string' }, message: { type: 'string' } },
        },
      },
      {
        title: 'BatchResult',
        description:
          'What a request with this signal alone would have returned: `data` if it is stored, and otherwise `error`',
        optional: ['data', 'error'],
      },
    ),
  },
  'Every signal with status 200 or 201 is stored on disk',
  [
    { status: 201, data: { id: 31337, value: 'positive', created_at: '2026-11-15T12:00:00.000Z' } },
    { status: 404, error: { code: 'not_found', message: 'Not found.' } },
  ],
)

export const signalSchema = one(signal, 'The signal is stored on disk', {
  id: 31337,
  value: 'positive',
  created_at: '2026-11-15T12:00:00.000Z',
})

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

export const storedSignalSchema = object(
  {
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
  {
    title: 'Signal',
    description: 'A recorded signal',
    shared: ['id', 'value', 'created_at', 'occurred_at', 'trace_id'],
    verbatim: ['metadata', 'version', 'subject', 'voter', 'comment'],
  },
)

const searchSchema = object(
  {
    complete: { type: 'boolean', description: 'Whether no older signals are left to examine' },
    examined: { type: 'integer', description: 'Signals examined by this request' },
    searched_back_to: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Signals from before this time are not examined yet; null if complete',
    },
    cursor: { type: ['string', 'null'], description: 'Send as `cursor` to continue; null if complete' },
  },
  {
    title: 'SignalSearch',
    description: 'How far a search got. Only with a filter on `comment`, `q` or metadata',
    shared: ['complete', 'examined', 'searched_back_to', 'cursor'],
  },
)

const changeSchema = object(
  {
    entry_id: { type: 'integer', description: 'The ID of the history entry' },
    side: { enum: changeSides },
    counted: { type: 'integer', description: 'All signals of this side in the impact, whatever other filters select' },
    removed: {
      type: 'integer',
      description: 'Of these, how many retention has removed. They still count, and cannot be listed',
    },
  },
  {
    title: 'SignalsOfChange',
    description: 'What the impact of the change counts. Only with `change`',
    shared: ['entry_id', 'side', 'counted', 'removed'],
  },
)

export const signalPageSchema = object(
  {
    data: { type: 'array', items: storedSignalSchema },
    pagination: searchPaginationSchema,
    search: searchSchema,
    change: changeSchema,
  },
  {
    description: 'One page of signals, newest first',
    examples: [{ data: [storedSignalExample], pagination: paginationExample(1) }],
    optional: ['search', 'change'],
    shared: ['data', 'pagination', 'search', 'change'],
  },
)

const signalParamsSchema = {
  prompt_id: promptId,
  signal_id: { type: 'integer', description: 'The ID of the signal', examples: [storedSignalExample.id] },
} as const

export type ImportedSignal = FromSchema<typeof importedSignalSchema>

export type NewSignalBody = FromSchema<typeof newSignalSchema>

export type BatchItem = FromSchema<typeof batchItemSchema>

export type TracedItem = FromSchema<typeof tracedItemSchema>

export const signalFilterSchema = {
  value: { enum: signalValues, description: 'Only signals with this value' },
  ...periodQuerySchema,
  version: {
    type: 'string',
    description:
      'Only signals with this version. A commit SHA also finds signals that name the same commit in full or abbreviated, unless ' +
      'several commits start alike. `#123` for the history entry and `:v2` for the label where that could be a commit SHA',
  },
  comment: { enum: ['any'], description: 'Only signals with a comment' },
  q: { type: 'string', maxLength: 200, description: 'Part of the comment, ignoring case' },
  change: {
    type: 'string',
    description: 'Only signals that the impact of this change counts, by the ID of its history entry. Needs `side`',
  },
  side: {
    enum: changeSides,
    description:
      'Which signals of `change`: those that count for it (`after`), or for the change that was live before it (`before`)',
  },
} as const

const signalQuerySchema = {
  ...signalFilterSchema,
  cursor: { type: 'string', description: 'Continues a search: `search.cursor` of the previous response' },
  ...pageQuerySchema,
} as const

export const csvColumns = [
  'id',
  'value',
  'created_at',
  'metadata',
  'version',
  'subject',
  'voter',
  'comment',
  'occurred_at',
  'trace_id',
]

/** The export formats, each with one signal as an example. */
const exportSchemas = {
  'application/x-ndjson': {
    type: 'string',
    description: 'One signal per line, in the same format as in the list',
    examples: [`${JSON.stringify(storedSignalExample)}\n`],
  },
  'text/csv': {
    type: 'string',
    description: 'One signal per line, with metadata as JSON text',
    examples: [
      `${csvColumns.join()}\r\n31337,positive,2026-11-15T12:00:00.000Z,,8f3a1c5,answer-42,,Exactly what I needed,2026-11-15T11:58:30.000Z,\r\n`,
    ],
  },
} as const

const exportQuerySchema = {
  format: { enum: exportFormats, default: 'ndjson', description: 'One JSON object per line, or CSV' },
  ...signalFilterSchema,
} as const

const erasureSchema = {
  title: 'Erasure',
  description: 'Which signals to erase',
  type: 'object',
  properties: {
    metadata: { type: 'object', description: 'Members that the metadata of a signal must have: 1 to 16' },
    voter: {
      ...label,
      type: 'string',
      description: 'Who voted, as in the field `voter` of a signal. It is hashed on arrival',
    },
    subject: {
      ...label,
      type: 'string',
      description: 'What was voted on, in any prompt. Withdrawn votes are erased and counted, too',
    },
  },
  examples: [{ metadata: { user: 'u-123' } }, { voter: 'u-123' }],
} as const

const erasedSchema = one(
  object({ erased: { type: 'integer', description: 'Number of erased signals' } }),
  'The signals are erased',
  { erased: 42 },
)

const erasurePreviewSchema = one(
  object(
    { matching: { type: 'integer', description: 'Number of signals that would be erased' } },
    { title: 'ErasurePreview' },
  ),
  'The number of signals',
  { matching: 42 },
)

export type ErasureBody = FromSchema<typeof erasureSchema>

const summaryQuerySchema = {
  from: {
    type: 'string',
    format: 'date-time',
    description: 'Defaults to 30 days before `to`',
    examples: ['2026-11-14T00:00:00.000Z'],
  },
  to: {
    type: 'string',
    format: 'date-time',
    description: 'Defaults to now',
    examples: ['2026-11-15T00:00:00.000Z'],
  },
  interval: {
    enum: [...intervals, 'auto'],
    default: 'day',
    description:
      'UTC. Weeks start on Monday. `auto` is the shortest one that leaves at most 200 intervals since the first signal, and 30 ' +
      'signals in the average interval, or 10 in the average day if the range is shorter than 8 weeks. With it, the last ' +
      'interval is the current one, also if `to` is later',
  },
  split: {
    enum: ['changes'],
    description:
      'Splits intervals at the hours in which changes went live, and says which version was live in each part',
  },
  by: {
    type: 'string',
    description:
      'Adds the counts of the five largest segments by a declared key of the metadata, such as `metadata.model`, from up to the newest ' +
      '20,000 signals',
  },
} as const

const live = {
  end: { type: 'string', format: 'date-time', description: 'Only with `split`, like the next three. Exclusive' },
  changes: { type: 'integer', description: 'How many changes went live' },
  versions: {
    type: 'integer',
    description:
      'How many versions took turns. More than one in the hour of a change, and if there are too many changes to split at',
  },
  entry_id: {
    type: ['integer', 'null'],
    description: 'The history entry of the version that was live; null unless there was exactly one',
  },
} as const

export const summarySchema = object(
  {
    data: {
      type: 'array',
      description:
        'Every interval that overlaps the requested range, in order. The first and last are counted in full, but with `split` cut ' +
        'to the hours of `from` and `to`',
      items: {
        ...intervalTally,
        properties: { ...intervalTally.properties, ...live },
        [shared]: ['start', ...tallied, 'end', 'changes', 'versions', 'entry_id'],
      },
    },
    interval: { enum: intervals },
    split: {
      type: 'boolean',
      description: 'Only with `split`. False if the range has more than about 250 changes: intervals are whole then',
    },
    segments: object(
      {
        key: { type: 'string' },
        data: {
          type: 'array',
          description: 'The largest first',
          items: object(
            {
              value: { type: ['string', 'null'], description: 'Null for signals without the member. Untrusted text' },
              total: object(tally, { shared: tallied }),
              data: { type: 'array', items: intervalTally, description: 'In order, without empty intervals' },
            },
            { title: 'SegmentSummary', shared: ['total', 'data'], verbatim: ['value'] },
          ),
        },
        others: { type: 'integer', description: 'How many further segments there are' },
        counted_from: {
          type: ['string', 'null'],
          format: 'date-time',
          description: 'Earlier signals are not counted, because there are too many; null if all are',
        },
      },
      {
        title: 'SegmentSummaries',
        description: 'Only with `by`',
        shared: ['key', 'data', 'others', 'counted_from'],
      },
    ),
    total: object(tally, { shared: tallied }),
  },
  {
    description: 'The counts',
    examples: [
      {
        data: [{ start: '2026-11-14T00:00:00.000Z', positive: 31, negative: 4 }],
        interval: 'day',
        total: { positive: 31, negative: 4 },
      },
    ],
    optional: ['split', 'segments'],
    shared: ['data', 'interval', 'split', 'segments', 'total'],
  },
)

export const oneSelection = 'The body must have exactly one of metadata, voter and subject'

export const operations = defineOperations('Signals', {
  createSignals: {
    method: 'POST',
    path: '/api/v1/signals',
    client: 'signals.createMany',
    summary: 'Create many signals',
    description:
      `Records up to ${maxBatchSignals} signals of any prompts, in their order. Each is accepted or rejected as a request of its own ` +
      'would be, and counts towards the monthly limit as one: if not all fit, the first ones are recorded. The response is 200 ' +
      'and has the result of each signal. A signal with `trace_id` or `response_id` needs no `prompt`, if a span has told which it is. A signal with an `idempotency_key` can be sent again, in any batch or alone, with the ' +
      'same text.',
    roles: signalRoles,
    batch: true,
    changesSignals: true,
    body: documentedBatchSchema,
    response: {
      200: withHeaders(rateLimitHeaders, batchResultSchema),
      403: errorSchema('forbidden', crossOriginMessage),
      422: invalidSchema('signals is required'),
    },
  },

  createSignal: {
    method: 'POST',
    path: '/api/v1/prompts/:prompt_id/signals',
    client: 'signals.create',
    summary: 'Create a signal',
    description:
      'Records whether a user liked an output of the prompt. Each signal counts towards the monthly limit of the ' +
      'organisation: Free 1,000, Team 10,000, Business 100,000 per calendar month, UTC, unless the operator has set other limits. ' +
      'Every response to a valid key says how much of the limit is left. Without a limit, these headers are absent.',
    // Keys that were created not to record signals get 403, like an ingest key that asks for history.
    roles: signalRoles,
    light: true,
    changesSignals: true,
    headers: signalHeadersSchema,
    params: promptParamsSchema,
    body: newSignalSchema,
    response: {
      200: withHeaders(rateLimitHeaders, replacedSignalSchema),
      201: withHeaders(rateLimitHeaders, signalSchema),
      403: errorSchema('forbidden', crossOriginMessage),
      422: invalidSchema('value is required'),
      429: rateLimitedBodySchema,
    },
  },

  retractSignal: {
    method: 'DELETE',
    path: '/api/v1/prompts/:prompt_id/signals/:signal_id',
    client: 'signals.delete',
    summary: 'Delete a signal',
    description: 'Removes the signal from all lists and statistics. It still counts towards the monthly limit.',
    roles: ['standard', 'admin'],
    changesSignals: true,
    params: signalParamsSchema,
    response: { 204: { type: 'null', description: 'The signal is deleted' } },
  },

  eraseSignals: {
    method: 'POST',
    path: '/api/v1/signals/erase',
    client: 'signals.erase',
    timeoutMs: 600_000,
    idempotent: true,
    needsBody: true,
    summary: 'Erase signals by metadata, voter or subject',
    description:
      'Removes every signal of the organisation whose metadata has all of these members with equal values, or of this voter, or on ' +
      'this subject, including signals of deleted prompts, from lists and statistics. They still count towards the monthly ' +
      'limit. Recording continues during an erasure. By metadata, it takes a few seconds per million stored signals; if it is ' +
      'interrupted, send it again: `erased` then counts only the last attempt.',
    roles: ['admin'],
    changesSignals: true,
    body: erasureSchema,
    response: { 200: erasedSchema, 422: invalidSchema(oneSelection) },
  },

  previewErasure: {
    method: 'POST',
    path: '/api/v1/signals/erase/preview',
    client: 'signals.previewErasure',
    timeoutMs: 600_000,
    idempotent: true,
    needsBody: true,
    summary: 'Count the signals that an erasure would remove',
    description:
      'Takes the same body, and removes nothing. By metadata, it takes a few seconds per million stored signals.',
    roles: ['admin'],
    changesSignals: true,
    body: erasureSchema,
    response: { 422: invalidSchema(oneSelection), 200: erasurePreviewSchema },
  },

  exportSignals: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/signals/export',
    client: 'signals.export',
    summary: 'Export signals',
    description:
      'All signals in one streamed response, oldest first, with the same filters as the list. The CSV format is safe to open ' +
      'in a spreadsheet.',
    roles: readerRoles,
    params: promptParamsSchema,
    query: exportQuerySchema,
    response: {
      200: {
        description: 'A file',
        content: Object.fromEntries(Object.entries(exportSchemas).map(([type, schema]) => [type, { schema }])),
      },
      422: invalidTimeSchema('since'),
    },
  },

  listSignals: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/signals',
    client: 'signals.list',
    summary: 'List signals',
    description:
      'Newest first by `occurred_at`, then `id`, with metadata exactly as sent. `metadata.<key>=<value>` selects signals whose ' +
      'metadata has this member: up to 16, and numbers, booleans and null match as well as text. Filters on `comment`, `q` and ' +
      'metadata search the signals: one request examines up to 10,000 of them, `search` says how far it got, and `cursor` ' +
      'continues. `total_count` is then null unless one request examined all. `change` and `side` select exactly the signals that ' +
      'the impact of a change counts: those that name its version, and those without a version of the times in which it was live ' +
      'with the largest share. With `value` alone, the list has its totals; any other filter beside them searches.',
    roles: readerRoles,
    shared: 'with signals',
    params: promptParamsSchema,
    query: signalQuerySchema,
    response: { 200: signalPageSchema, 422: invalidTimeSchema('since') },
  },

  summariseSignals: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/signals/summary',
    client: 'signals.summary',
    summary: 'Summarise signals',
    description:
      'Counts per hour, day or week, including intervals without signals, and on request by the version that was live.',
    roles: readerRoles,
    shared: 'always',
    params: promptParamsSchema,
    query: summaryQuerySchema,
    response: { 200: summarySchema, 422: invalidTimeSchema('from') },
  },
})
