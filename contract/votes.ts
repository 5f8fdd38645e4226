import type { FromSchema } from 'json-schema-to-ts'
import { maxCommentLength } from '../server/src/domain/signals/details.ts'
import { signalValues } from '../server/src/domain/signals/signal.ts'
import { maxTokenLength } from '../server/src/domain/votes/token.ts'
import { defineOperations } from './operation.ts'
import { errorBodySchema, errorSchema, invalidSchema, object, one, rateLimitedBodySchema } from './schema.ts'

const value = {
  enum: [...signalValues, null],
  description: 'Null withdraws the vote',
} as const

const comment = { type: ['string', 'null'], maxLength: maxCommentLength, description: "The user's words" } as const

export const newVoteSchema = {
  title: 'NewVote',
  description: 'A vote from a page, on the subject that its token names',
  type: 'object',
  required: ['token', 'value'],
  properties: {
    token: {
      type: 'string',
      maxLength: maxTokenLength,
      description: 'A token that your application signed with a signing key',
    },
    value,
    comment,
  },
  examples: [
    {
      token:
        'plt_eyJrIjoiOVZxWHcyTG1UNGNSeThaayIsInAiOiJwbXRfOVZxWHcyTG1UNGNSeThaazFBYkMzZEVmIiwicyI6ImFuc3dlci03YzJlIiwiZSI6MTc5NDc0NzYwMH0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      value: 'positive',
      comment: 'Short and clear.',
    },
  ],
} as const

export const voteSchema = one(
  object({ value, comment }, { title: 'Vote', description: 'The vote on the subject of the token' }),
  'The vote is stored on disk, replaced or, with the value null, withdrawn',
  { value: 'positive', comment: 'Short and clear.' },
)

export type NewVoteBody = FromSchema<typeof newVoteSchema>

export const votesPerToken = 30

export const votesPerAddress = 300

export const invalidToken =
  'The token is not valid: it is malformed or expired, its signing key was revoked, or its prompt was deleted. Sign a new one.'

export const operations = defineOperations('Signals', {
  createVote: {
    method: 'POST',
    path: '/api/v1/votes',
    client: 'votes.create',
    idempotent: true,
    summary: 'Vote from a page',
    description:
      'Records, replaces or withdraws the vote on the subject of a token, which your application signs with a signing key. Needs no ' +
      'key and ignores cookies, so that pages of any origin can send it. The body is JSON, as `application/json` or, for ' +
      '`navigator.sendBeacon`, as `text/plain`, and has at most 32 KiB. The same vote can be sent any number of times. A first vote ' +
      `counts towards the monthly limit. At most ${votesPerToken} votes a minute are accepted for one subject, and ` +
      `${votesPerAddress} from one address.`,
    security: [],
    light: true,
    changesSignals: true,
    body: newVoteSchema,
    response: {
      200: voteSchema,
      401: errorSchema('unauthorized', invalidToken),
      422: invalidSchema('value is required'),
      429: rateLimitedBodySchema,
      500: errorBodySchema,
    },
  },
})
