import type { FromSchema } from 'json-schema-to-ts'
import { tooManyShares } from '../server/src/domain/access/share.ts'
import { defineOperations } from './operation.ts'
import { promptId, promptIdExample, promptParamsSchema } from './prompt-id.ts'
import { promptNameSchema } from './regressions.ts'
import { conflictSchema, invalidSchema, list, object, one, pageQuerySchema, time, timeOrNull } from './schema.ts'

const terms = {
  regression_id: {
    type: ['integer', 'null'],
    description: 'The regression of the prompt that the link opens; null for the page of the prompt',
  },
  includes_signals: {
    type: 'boolean',
    description: 'Whether the link also shows signals, with their comments and metadata',
  },
} as const

const newShareSchema = {
  title: 'NewShare',
  description: 'A link to create',
  type: 'object',
  properties: {
    regression_id: { ...terms.regression_id, default: null },
    includes_signals: { ...terms.includes_signals, default: false },
    expires_at: {
      ...timeOrNull,
      default: null,
      description: 'When the link expires, at most 90 days from now; null for 7 days',
    },
  },
  examples: [{ includes_signals: false }],
} as const

const shareExample = {
  id: 3,
  prompt: { id: promptIdExample, name: 'Support answers' },
  regression_id: null,
  includes_signals: false,
  hint: 'k3Zp',
  created_by: 'laptop',
  created_at: '2026-11-15T12:00:00.000Z',
  expires_at: '2026-11-22T12:00:00.000Z',
  revoked_at: null,
} as const

const shareSchema = object(
  {
    id: { type: 'integer' },
    prompt: promptNameSchema,
    ...terms,
    hint: { type: 'string', description: 'The last four characters of the link' },
    created_by: { type: 'string', description: 'The name of the key that created it' },
    created_at: time,
    expires_at: time,
    revoked_at: {
      ...timeOrNull,
      description: 'When the link, or the key that created it, was revoked; null if neither was',
    },
  },
  { title: 'Share', description: 'A link to one prompt for people without a key, without its token' },
)

const createdShareSchema = object(
  { ...shareSchema.properties, url: { type: 'string', description: 'The link itself, shown only once' } },
  { title: 'CreatedShare', description: 'A new link' },
)

export const oneCreatedShareSchema = one(createdShareSchema, 'The new link, shown only once', {
  ...shareExample,
  url: 'https://ledger.example.com/shared#plv_000000000000000000000000000000000000000k3Zp',
})

export const sharePageSchema = list(shareSchema, 'One page of links, newest first', [shareExample])

/** What the page of a link reads first. Not in the documentation. */
export const openedShareSchema = one(
  object(
    { prompt: promptNameSchema, ...terms, expires_at: time },
    { shared: ['prompt', 'regression_id', 'includes_signals', 'expires_at'] },
  ),
  'What the link shows',
  { prompt: shareExample.prompt, regression_id: null, includes_signals: false, expires_at: shareExample.expires_at },
)

const shareParamsSchema = {
  prompt_id: promptId,
  share_id: { type: 'integer', description: 'The ID of the link', examples: [shareExample.id] },
} as const

export type NewShareBody = FromSchema<typeof newShareSchema>

export type ShareBody = FromSchema<typeof shareSchema>

export const unknownRegression = 'regression_id must be the ID of a regression of this prompt'

export const operations = defineOperations('Share links', {
  listShares: {
    method: 'GET',
    path: '/api/v1/shares',
    client: 'shares.list',
    summary: 'List the share links of all prompts',
    description: 'Newest first, with revoked ones and those that expired in the last 90 days.',
    roles: ['standard', 'admin'],
    query: pageQuerySchema,
    response: { 200: sharePageSchema },
  },

  listPromptShares: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/shares',
    client: 'shares.listOfPrompt',
    summary: 'List the share links of a prompt',
    description: 'Newest first, with revoked ones and those that expired in the last 90 days.',
    roles: ['standard', 'admin'],
    params: promptParamsSchema,
    query: pageQuerySchema,
    response: { 200: sharePageSchema },
  },

  createShare: {
    method: 'POST',
    path: '/api/v1/prompts/:prompt_id/shares',
    client: 'shares.create',
    summary: 'Create a share link',
    description:
      'A link that shows this prompt to people without a key: the chart, the changes with their text and their verdicts, and ' +
      'nothing else. Signals, with comments and metadata, only with `includes_signals`. The response contains the link, which is ' +
      'shown only once. It ends when it expires, when it is revoked, or with the key that created it.',
    roles: ['standard', 'admin'],
    params: promptParamsSchema,
    body: newShareSchema,
    response: {
      201: oneCreatedShareSchema,
      409: conflictSchema(tooManyShares().message),
      422: invalidSchema(unknownRegression),
    },
  },

  revokeShare: {
    method: 'DELETE',
    path: '/api/v1/prompts/:prompt_id/shares/:share_id',
    client: 'shares.revoke',
    summary: 'Revoke a share link',
    description: 'The link shows nothing from now on.',
    roles: ['standard', 'admin'],
    params: shareParamsSchema,
    response: { 204: { type: 'null', description: 'The link is revoked' } },
  },
})
