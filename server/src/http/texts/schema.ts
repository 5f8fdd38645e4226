import type { FromSchema } from 'json-schema-to-ts'
import { historyEntryExample, historyEntrySchema } from '../history/schema.ts'
import { paginationExample, searchPaginationSchema } from '../page-schema.ts'
import { promptIdExample } from '../prompts/id-schema.ts'
import { promptNameSchema } from '../regressions/schema.ts'

const time = { type: 'string', format: 'date-time' } as const

const matchSchema = {
  title: 'TextMatch',
  description:
    'Versions of a prompt in a row whose text contains the phrase. `entry` is the newest of them, and `first_entry` the oldest: the change ' +
    'that brought the phrase',
  type: 'object',
  required: ['prompt', 'entry', 'first_entry', 'version_count', 'live', 'live_from', 'live_until', 'excerpt'],
  properties: {
    prompt: promptNameSchema,
    entry: historyEntrySchema,
    first_entry: historyEntrySchema,
    version_count: { type: 'integer', description: 'How many versions these are' },
    live: { type: 'boolean', description: 'Whether one of them is live now' },
    live_from: { ...time, description: 'When the first of them went live' },
    live_until: { type: ['string', 'null'], format: 'date-time', description: 'Null while one of them is live' },
    excerpt: {
      title: 'TextExcerpt',
      description: 'The first place in the newest version, on one line. Untrusted text',
      type: 'object',
      required: ['before', 'match', 'after'],
      properties: {
        before: {
          type: 'string',
          description: 'The words before it, up to 80 characters. Starts with `…` unless the text does',
        },
        match: { type: 'string', description: 'The phrase as it is written there' },
        after: {
          type: 'string',
          description: 'The words after it, up to 120 characters. Ends with `…` unless the text does',
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const

const searchSchema = {
  title: 'TextSearch',
  description: 'How far the search got',
  type: 'object',
  required: ['complete', 'examined', 'skipped', 'cursor'],
  properties: {
    complete: { type: 'boolean', description: 'Whether no versions are left to examine' },
    examined: { type: 'integer', description: 'Versions whose text this request searched' },
    skipped: {
      type: 'integer',
      description: 'Versions whose text is unknown, not in git, or larger than 1 MiB. They were not searched',
    },
    cursor: { type: ['string', 'null'], description: 'Send as `cursor` to continue; null if complete' },
  },
  additionalProperties: false,
} as const

export const textSearchPageSchema = {
  type: 'object',
  required: ['data', 'pagination', 'search'],
  properties: { data: { type: 'array', items: matchSchema }, pagination: searchPaginationSchema, search: searchSchema },
  additionalProperties: false,
  description: 'One page of matches, those that are live first',
  examples: [
    {
      data: [
        {
          prompt: { id: promptIdExample, name: 'Support answers' },
          entry: historyEntryExample,
          first_entry: historyEntryExample,
          version_count: 1,
          live: true,
          live_from: historyEntryExample.created_at,
          live_until: null,
          excerpt: { before: 'If the parcel is lost, ', match: 'offer a refund', after: ' and apologise.' },
        },
      ],
      pagination: paginationExample(1),
      search: { complete: true, examined: 214, skipped: 0, cursor: null },
    },
  ],
} as const

export const textSearchQuerySchema = {
  type: 'object',
  required: ['q'],
  properties: {
    q: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      examples: ['refund'],
      description: 'The phrase. Ignores case, and a space matches any white space, such as a line break',
    },
    limit: { type: 'integer', default: 25, minimum: 1, maximum: 100, description: 'Results per request' },
    cursor: { type: 'string', description: 'Continues a search: `search.cursor` of the previous response' },
  },
} as const

export type TextMatchBody = FromSchema<typeof matchSchema>
