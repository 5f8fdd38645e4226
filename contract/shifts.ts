import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles } from '../server/src/domain/access/api-key.ts'
import { regressionStates } from '../server/src/domain/regressions/regression.ts'
import { shiftCauses } from '../server/src/domain/shifts/shift.ts'
import { historyEntryExample, historyEntrySchema } from './history.ts'
import { defineOperations, shared } from './operation.ts'
import { promptId, promptIdExample, promptParamsSchema } from './prompt-id.ts'
import {
  dismissalSchema,
  promptNameSchema,
  sharedTriage,
  triagedFields,
  triageSchema,
  triageSteps,
  untriaged,
} from './regressions.ts'
import { conflictSchema, invalidSchema, list, object, one, pageQuerySchema, pair, time, timeOrNull } from './schema.ts'

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
  [shared]: ['change', 'shared_with', 'unexplained'],
  additionalProperties: false,
} as const

const candidatesSchema = object(
  {
    count: { type: 'integer', minimum: 1 },
    changes: {
      type: 'array',
      description: 'Those with the most votes first, up to 20',
      items: object(
        {
          change: historyEntrySchema,
          share: { type: 'number', description: 'Its share of the votes in the range of the shift' },
        },
        { title: 'ShiftCandidate', shared: ['change', 'share'] },
      ),
    },
  },
  {
    title: 'ShiftCandidates',
    shared: ['count', 'changes'],
    description: 'The changes that went live while the rate moved. One of them may be the cause',
  },
)

const shiftSchema = object(
  {
    id: { type: 'string', description: 'Stays the same while votes move the shift a little (prefix shf_)' },
    prompt: promptNameSchema,
    state: {
      enum: [...regressionStates, null],
      description:
        '`open` until the rate moves back (`repaired`), it is `dismissed`, or the votes no longer show it (`withdrawn`). Null if a change explains ' +
        'it: then people take care of its regression',
    },
    at: { ...time, description: 'When the rate most likely moved' },
    between: pair(time, 'The rate moved at some time in this range'),
    found_at: { ...time, description: 'When the votes first showed it' },
    rate_before: { type: 'number', description: 'Share of positive signals up to the shift' },
    rate_after: { type: 'number', description: 'Share of positive signals after it' },
    cause: causeSchema,
    candidates: {
      anyOf: [candidatesSchema, { type: 'null' }],
      description:
        'For an unexplained shift, the changes that may be the cause, if the votes do not tell which one is. Null without such changes',
    },
    explanation: { type: 'string', description: 'All of this in two sentences' },
    repaired_at: { ...timeOrNull, description: 'When the rate moved back' },
    ...triagedFields,
    owner: {
      type: ['string', 'null'],
      description:
        'The email address of the person who takes care of it: by default the author of the only change that may have caused it',
    },
  },
  {
    title: 'Shift',
    description: 'A moment at which the rate of a prompt moved more than its votes usually drift',
    shared: [
      'id',
      'prompt',
      'state',
      'at',
      'between',
      'found_at',
      'rate_before',
      'rate_after',
      'cause',
      'candidates',
      'explanation',
      'repaired_at',
      ...sharedTriage,
    ],
  },
)

const shiftQuerySchema = {
  cause: { type: 'string', enum: shiftCauses, description: 'Only shifts with this cause' },
  since: { ...time, description: 'Only shifts at this time or later' },
  found_since: { ...time, description: 'Only shifts that were found at this time or later' },
  state: { type: 'string', enum: regressionStates, description: 'Only shifts in this state' },
  owner: { type: 'string', description: 'Only those of this email address, in any case' },
  ...pageQuerySchema,
} as const

const moved = 'The share of positive votes fell from 85% to 75% between 2026-11-14 15:00 and 2026-11-14 18:00 UTC.'

const shiftExample = {
  id: 'shf_5f1c0a7be92d4c3388d1e6aa',
  prompt: { id: promptIdExample, name: 'Support answers' },
  state: null,
  at: '2026-11-14T16:05:00.000Z',
  between: ['2026-11-14T15:00:00.000Z', '2026-11-14T18:00:00.000Z'],
  found_at: '2026-11-15T09:20:00.000Z',
  rate_before: 0.85,
  rate_after: 0.75,
  cause: { change: historyEntryExample },
  candidates: null,
  explanation: `${moved} One change of the prompt explains it.`,
  repaired_at: null,
  ...untriaged,
} as const

const unexplainedExample = {
  ...shiftExample,
  state: 'open',
  cause: { unexplained: true },
  explanation: `${moved} No change of the prompt explains it.`,
  owner: 'ada@example.com',
} as const

export const shiftPageSchema = list(shiftSchema, 'One page of shifts, newest first', [shiftExample])

const shiftDetails = object(
  { ...shiftSchema.properties, steps: triageSteps },
  { title: 'ShiftDetails', description: 'A shift, and what people did about it' },
)

const shiftParamsSchema = {
  prompt_id: promptId,
  shift_id: { type: 'string', description: 'The ID of the shift', examples: [shiftExample.id] },
} as const

export type ShiftBody = FromSchema<typeof shiftSchema>

export type ShiftDetailsBody = FromSchema<typeof shiftDetails>

export const shiftNotOpen = 'A change explains the shift, or it is over, so there is nothing to take care of.'

const invalidCause = invalidSchema(`cause must be one of ${shiftCauses.join(', ')}`)

export const operations = defineOperations('Regressions', {
  listShifts: {
    method: 'GET',
    path: '/api/v1/shifts',
    client: 'shifts.list',
    summary: 'List the shifts of all prompts',
    description:
      'When the rate of positive signals moved more than drift explains, newest first, with the cause: a change, ' +
      'something outside of the prompt that other prompts share, or unknown. If the votes do not tell which of several ' +
      'changes it was, it is unexplained, and `candidates` lists them. Found in the background, within seconds ' +
      'to minutes of the votes.',
    roles: readerRoles,
    query: shiftQuerySchema,
    response: { 200: shiftPageSchema, 422: invalidCause },
  },

  listPromptShifts: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/shifts',
    client: 'shifts.listOfPrompt',
    summary: 'List the shifts of a prompt',
    description: 'Up to 16, newest first.',
    roles: readerRoles,
    shared: 'always',
    params: promptParamsSchema,
    query: shiftQuerySchema,
    response: { 200: shiftPageSchema, 422: invalidCause },
  },

  getShift: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/shifts/:shift_id',
    client: 'shifts.get',
    summary: 'Get a shift',
    description: 'With what people did and said about it.',
    roles: readerRoles,
    params: shiftParamsSchema,
    response: {
      200: one(shiftDetails, 'The shift', {
        ...unexplainedExample,
        steps: [{ at: '2026-11-15T10:00:00.000Z', by: 'Ada', action: 'comment', text: 'Was it the new model?' }],
      }),
    },
  },

  updateShift: {
    method: 'PATCH',
    path: '/api/v1/prompts/:prompt_id/shifts/:shift_id',
    client: 'shifts.update',
    needsBody: true,
    summary: 'Take care of a shift',
    description:
      'Sets who takes care of an open shift that no change explains, acknowledges or snoozes it, and adds a comment.',
    roles: ['standard', 'deploy', 'admin'],
    params: shiftParamsSchema,
    body: triageSchema,
    response: {
      200: one(shiftSchema, 'The shift', {
        ...unexplainedExample,
        acknowledged_at: '2026-11-15T10:00:00.000Z',
        acknowledged_by: 'Ada',
      }),
      409: conflictSchema(shiftNotOpen),
      422: invalidSchema('owner must be an email address'),
    },
  },

  dismissShift: {
    method: 'POST',
    path: '/api/v1/prompts/:prompt_id/shifts/:shift_id/dismiss',
    client: 'shifts.dismiss',
    idempotent: true,
    summary: 'Dismiss a shift',
    description:
      'For a shift that you expected, with the reason. If it is dismissed already, the response is the shift as it is.',
    roles: ['standard', 'admin'],
    params: shiftParamsSchema,
    body: dismissalSchema,
    response: {
      200: one(shiftSchema, 'The shift', {
        ...unexplainedExample,
        state: 'dismissed',
        dismissed_at: '2026-11-15T11:00:00.000Z',
        dismissed_by: 'Ada',
        note: 'A new group of users joined that day.',
      }),
      409: conflictSchema(shiftNotOpen),
      422: invalidSchema('note is required'),
    },
  },
})
