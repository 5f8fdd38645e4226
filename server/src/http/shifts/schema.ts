import type { FromSchema } from 'json-schema-to-ts'
import { shiftCauses } from '../../domain/shifts/shift.ts'
import { historyEntryExample, historyEntrySchema } from '../history/schema.ts'
import { pageQuerySchema, paginationExample, paginationSchema } from '../page-schema.ts'
import { promptIdExample } from '../prompts/id-schema.ts'
import { promptNameSchema } from '../regressions/schema.ts'

const time = { type: 'string', format: 'date-time' } as const

const causeSchema = {
  title: 'ShiftCause',
  description: 'Exactly one of these: a change of the prompt, other prompts that moved at the same time, or neither',
  type: 'object',
  minProperties: 1,
  maxProperties: 1,
  properties: {
    change: historyEntrySchema,
    shared_with: { type: 'integer', description: 'How many other prompts moved at the same time' },
    unexplained: { type: 'boolean', description: 'True if no single change and no other prompts explain it' },
  },
  additionalProperties: false,
} as const

const candidatesSchema = {
  title: 'ShiftCandidates',
  description: 'The changes that went live while the rate moved. One of them may be the cause',
  type: 'object',
  required: ['count', 'changes'],
  properties: {
    count: { type: 'integer', minimum: 1 },
    changes: {
      type: 'array',
      description: 'Those with the most votes first, up to 20',
      items: {
        title: 'ShiftCandidate',
        type: 'object',
        required: ['change', 'share'],
        properties: {
          change: historyEntrySchema,
          share: { type: 'number', description: 'Its share of the votes in the range of the shift' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const

const shiftSchema = {
  title: 'Shift',
  description: 'A moment at which the rate of a prompt moved more than its votes usually wander',
  type: 'object',
  required: ['prompt', 'at', 'between', 'rate_before', 'rate_after', 'cause', 'candidates', 'explanation'],
  properties: {
    prompt: promptNameSchema,
    at: { ...time, description: 'When the rate most likely moved' },
    between: {
      type: 'array',
      items: time,
      minItems: 2,
      maxItems: 2,
      description: 'The rate moved at some time in this range',
    },
    rate_before: { type: 'number', description: 'Share of positive signals up to the shift' },
    rate_after: { type: 'number', description: 'Share of positive signals after it' },
    cause: causeSchema,
    candidates: {
      anyOf: [candidatesSchema, { type: 'null' }],
      description:
        'For an unexplained shift, the changes that may be the cause, if the votes do not tell which one is. Null without such changes',
    },
    explanation: { type: 'string', description: 'All of this in two sentences' },
  },
  additionalProperties: false,
} as const

export const shiftQuerySchema = {
  type: 'object',
  properties: {
    cause: { type: 'string', enum: shiftCauses, description: 'Only shifts with this cause' },
    since: { ...time, description: 'Only shifts at this time or later' },
    ...pageQuerySchema.properties,
  },
} as const

export const shiftPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: shiftSchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'One page of shifts, newest first',
  examples: [
    {
      data: [
        {
          prompt: { id: promptIdExample, name: 'Support answers' },
          at: '2026-11-14T16:05:00.000Z',
          between: ['2026-11-14T15:00:00.000Z', '2026-11-14T18:00:00.000Z'],
          rate_before: 0.85,
          rate_after: 0.75,
          cause: { change: historyEntryExample },
          candidates: null,
          explanation:
            'The share of positive votes fell from 85% to 75% between 2026-11-14 15:00 and 2026-11-14 18:00 UTC. One change of the ' +
            'prompt explains it.',
        },
      ],
      pagination: paginationExample(1),
    },
  ],
} as const

export type ShiftBody = FromSchema<typeof shiftSchema>
