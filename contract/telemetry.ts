import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles } from '../server/src/domain/access/api-key.ts'
import { rejectionReasons } from '../server/src/domain/telemetry/evaluation.ts'
import { evaluationSources, maxEvaluationRules } from '../server/src/domain/telemetry/evaluation-rule.ts'
import { outcomes, telemetryKinds } from '../server/src/domain/telemetry/telemetry.ts'
import { defineOperations } from './operation.ts'
import { invalidSchema, object, one, time } from './schema.ts'

const outcomeSchema = object(
  {
    kind: { enum: telemetryKinds, description: 'What arrived: log records with evaluations, or spans' },
    outcome: {
      enum: [...outcomes, ...rejectionReasons],
      description:
        '`recorded`, `repeated` (it was recorded before), `ignored` (it is not about a prompt), `waiting` (for the span that says which ' +
        'prompt it is about), or why it was rejected',
    },
    detail: {
      type: ['string', 'null'],
      description: 'What was rejected: the name of a prompt or of an evaluation. Untrusted text',
    },
    records: { type: 'integer' },
    first_at: { ...time, description: 'When the first of them arrived' },
    last_at: { ...time, description: 'When the last of them arrived' },
  },
  { title: 'TelemetryOutcome', description: 'What became of records that OpenTelemetry exporters sent' },
)

const telemetrySchema = object(
  { outcomes: { type: 'array', items: outcomeSchema, description: 'The newest first, up to 200' } },
  { title: 'Telemetry', description: 'What arrived lately from OpenTelemetry exporters' },
)

const ruleSchema = object(
  {
    name: { type: 'string', description: 'The name of the evaluation: `gen_ai.evaluation.name`' },
    source: {
      enum: [...evaluationSources, null],
      description:
        'Who evaluates: people, whose votes verdicts count, or a judge, whose scores are counted on their own. Null if each event says it',
    },
    threshold: {
      type: ['number', 'null'],
      description: 'Scores from here on are positive, all others negative. Null if only labels count',
    },
  },
  { title: 'EvaluationRule', description: 'How evaluations of one name are read' },
)

const rules = {
  type: 'array',
  items: ruleSchema,
  maxItems: maxEvaluationRules,
  description: 'One for each name',
} as const

const rulesExample = { rules: [{ name: 'Relevance', source: 'judge', threshold: 4 }] }

const rulesResponse = one(object({ rules }, { title: 'EvaluationRules' }), 'The rules', rulesExample)

const newEvaluationRulesSchema = {
  type: 'object',
  required: ['rules'],
  properties: { rules },
  examples: [rulesExample],
} as const

export type NewEvaluationRulesBody = FromSchema<typeof newEvaluationRulesSchema>

export type TelemetryOutcomeBody = FromSchema<typeof outcomeSchema>

export const operations = defineOperations('OpenTelemetry', {
  listTelemetry: {
    method: 'GET',
    path: '/api/v1/telemetry',
    client: 'telemetry.get',
    summary: 'Say what became of OpenTelemetry records',
    description:
      'What exporters sent to `/v1/logs` and `/v1/traces` within the last days, by outcome, the newest first. Up to 200. Empty if ' +
      'nothing has arrived.',
    roles: readerRoles,
    response: {
      200: one(telemetrySchema, 'The outcomes', {
        outcomes: [
          {
            kind: 'logs',
            outcome: 'unknown_prompt',
            detail: 'support-reply',
            records: 12,
            first_at: '2026-11-15T11:00:00.000Z',
            last_at: '2026-11-15T12:00:00.000Z',
          },
        ],
      }),
    },
  },

  getEvaluationRules: {
    method: 'GET',
    path: '/api/v1/evaluations',
    client: 'telemetry.rules',
    summary: 'Get the rules of evaluations',
    roles: readerRoles,
    response: { 200: rulesResponse },
  },

  setEvaluationRules: {
    method: 'PUT',
    path: '/api/v1/evaluations',
    client: 'telemetry.setRules',
    summary: 'Set the rules of evaluations',
    description:
      'Replaces them. They say which scores of an evaluation are positive, and whether people or a judge gives them. They apply to events ' +
      'that arrive from now on.',
    roles: ['admin'],
    body: newEvaluationRulesSchema,
    response: { 200: rulesResponse, 422: invalidSchema('rules is required') },
  },
})
