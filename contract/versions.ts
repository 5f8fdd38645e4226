import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles } from '../server/src/domain/access/api-key.ts'
import { historyEntryExample, historyEntrySchema } from './history.ts'
import { liveSourceSchema, liveWindowSchema } from './impact.ts'
import { defineOperations } from './operation.ts'
import { promptIdExample, promptParamsSchema } from './prompt-id.ts'
import { promptNameSchema } from './regressions.ts'
import {
  invalidSchema,
  object,
  pageQuerySchema,
  paginationExample,
  paginationSchema,
  searchPaginationSchema,
  textOrNull,
  time,
} from './schema.ts'

const versionSchema = object(
  {
    entry: historyEntrySchema,
    message: { ...textOrNull, description: 'The commit message, up to its first 1,000 characters' },
    path: { ...textOrNull, description: "Path of the prompt's file at that time" },
    live: {
      type: ['object', 'null'],
      description: 'How it is live in production now; null if it is not',
      required: ['share', 'environment'],
      properties: {
        share: { type: 'number', description: 'The part of the traffic that it serves' },
        environment: { ...textOrNull, description: 'Null for a merge' },
      },
      additionalProperties: false,
    },
    live_from: { ...time, description: 'When it went live for the first time' },
    live_until: { type: ['string', 'null'], format: 'date-time', description: 'Null if it is still live' },
    live_source: liveSourceSchema,
    live_windows: {
      type: 'array',
      items: liveWindowSchema,
      description: 'Every time in which it was live, in order, up to the newest 20',
    },
  },
  { title: 'PromptVersion', description: 'A change of a prompt that went live' },
)

const since = historyEntryExample.created_at

export const versionPageSchema = object(
  {
    data: { type: 'array', items: versionSchema },
    pagination: paginationSchema,
    complete: {
      type: 'boolean',
      description: 'Whether `q` was looked for in all versions, not only in the newest 5,000',
    },
  },
  {
    description: 'One page of versions, newest first',
    examples: [
      {
        data: [
          {
            entry: historyEntryExample,
            message: 'Answer in the language of the question (#42)',
            path: 'prompts/support.md',
            live: { share: 1, environment: null },
            live_from: since,
            live_until: null,
            live_source: 'merge',
            live_windows: [{ from: since, until: null, share: 1, live_source: 'merge', environment: null }],
          },
        ],
        pagination: paginationExample(1),
        complete: true,
      },
    ],
  },
)

const versionQuerySchema = {
  q: {
    type: 'string',
    default: '',
    maxLength: 200,
    description:
      'Every word has to match: part of the message (its first 1,000 characters) or of the author, the start of ' +
      'the commit hash, or a pull request such as `#42`. Ignores case',
  },
  ...pageQuerySchema,
} as const

const matchSchema = object(
  {
    prompt: promptNameSchema,
    entry: historyEntrySchema,
    first_entry: historyEntrySchema,
    version_count: { type: 'integer', description: 'How many versions these are' },
    live: { type: 'boolean', description: 'Whether one of them is live now' },
    live_from: { ...time, description: 'When the first of them went live' },
    live_until: { type: ['string', 'null'], format: 'date-time', description: 'Null while one of them is live' },
    excerpt: object(
      {
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
      { title: 'TextExcerpt', description: 'The first place in the newest version, on one line. Untrusted text' },
    ),
  },
  {
    title: 'TextMatch',
    description:
      'Versions of a prompt in a row whose text contains the phrase. `entry` is the newest of them, and `first_entry` the oldest: the change ' +
      'that brought the phrase',
  },
)

const searchSchema = object(
  {
    complete: { type: 'boolean', description: 'Whether no versions are left to examine' },
    examined: { type: 'integer', description: 'Versions whose text this request searched' },
    skipped: {
      type: 'integer',
      description: 'Versions whose text is unknown, not in git, or larger than 1 MiB. They were not searched',
    },
    cursor: { type: ['string', 'null'], description: 'Send as `cursor` to continue; null if complete' },
  },
  { title: 'TextSearch', description: 'How far the search got' },
)

export const textSearchPageSchema = object(
  { data: { type: 'array', items: matchSchema }, pagination: searchPaginationSchema, search: searchSchema },
  {
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
  },
)

const textSearchQuerySchema = {
  q: {
    type: 'string',
    minLength: 1,
    maxLength: 200,
    examples: ['refund'],
    description: 'The phrase. Ignores case, and a space matches any white space, such as a line break',
  },
  limit: { type: 'integer', default: 25, minimum: 1, maximum: 100, description: 'Results per request' },
  cursor: { type: 'string', description: 'Continues a search: `search.cursor` of the previous response' },
} as const

export type TextMatchBody = FromSchema<typeof matchSchema>

export const operations = defineOperations('History', {
  listVersions: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/versions',
    client: 'versions.list',
    summary: 'List the versions of a prompt',
    description:
      'The changes that went live, newest first, with when they were live. Without impacts: see the timeline.',
    roles: readerRoles,
    params: promptParamsSchema,
    query: versionQuerySchema,
    response: { 200: versionPageSchema, 422: invalidSchema('q must have at most 200 characters') },
  },

  searchTexts: {
    method: 'GET',
    path: '/api/v1/texts',
    client: 'versions.search',
    summary: 'Search the texts of all prompts',
    description:
      'The versions of all prompts that contain a phrase, whether they are live or were once. Consecutive versions of a prompt that contain ' +
      'it are one result, with the change that brought it. What is live comes first, then the newest prompt and its newest version. One ' +
      'request examines up to 10,000 versions, for about a second: `search` says how far it got, and `cursor` continues. `total_count` is ' +
      'null unless one request examined all.',
    roles: readerRoles,
    query: textSearchQuerySchema,
    requiredQuery: ['q'],
    response: { 200: textSearchPageSchema, 422: invalidSchema('q must have at most 200 characters') },
  },
})
