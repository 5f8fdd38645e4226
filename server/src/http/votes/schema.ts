import type { FromSchema } from 'json-schema-to-ts'
import { maxCommentLength } from '../../domain/signals/details.ts'
import { signalValues } from '../../domain/signals/signal.ts'
import { maxTokenLength } from '../../domain/votes/token.ts'

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

export const voteSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      title: 'Vote',
      description: 'The vote on the subject of the token',
      type: 'object',
      required: ['value', 'comment'],
      properties: { value, comment },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The vote is stored on disk, replaced or, with the value null, withdrawn',
  examples: [{ data: { value: 'positive', comment: 'Short and clear.' } }],
} as const

export type NewVoteBody = FromSchema<typeof newVoteSchema>
