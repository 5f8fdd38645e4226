import type { FromSchema } from 'json-schema-to-ts'
import { plans } from '../../domain/access/plan.ts'

const name = { type: 'string', minLength: 1, maxLength: 200, description: 'Name of the organisation' } as const

const organisation = {
  title: 'Organisation',
  description: 'The organisation that a key belongs to',
  type: 'object',
  required: ['id', 'name', 'plan', 'limits', 'signal_retention_days', 'created_at'],
  properties: {
    id: { type: 'integer' },
    name,
    plan: { enum: plans },
    limits: {
      type: 'object',
      required: ['signals_per_month', 'repositories', 'alerts', 'segment_keys'],
      properties: {
        signals_per_month: { type: ['integer', 'null'], description: "The plan's limit; null if it has none" },
        repositories: { type: 'integer', description: 'Connected repositories' },
        alerts: { type: 'integer' },
        segment_keys: {
          type: 'integer',
          description: 'Declared keys of the metadata, of the organisation or a prompt',
        },
      },
      additionalProperties: false,
    },
    signal_retention_days: {
      type: ['integer', 'null'],
      description: 'After how many days signals are deleted; null if they are kept. Counts stay',
    },
    created_at: { type: 'string', format: 'date-time' },
  },
  additionalProperties: false,
} as const

export const organisationSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: organisation },
  additionalProperties: false,
  description: 'The organisation',
  examples: [
    {
      data: {
        id: 1,
        name: 'Acme',
        plan: 'team',
        limits: { signals_per_month: 10_000, repositories: 100, alerts: 20, segment_keys: 5 },
        signal_retention_days: null,
        created_at: '2026-11-01T09:00:00.000Z',
      },
    },
  ],
} as const

export const organisationNameSchema = {
  title: 'OrganisationName',
  description: 'The new name',
  type: 'object',
  required: ['name'],
  properties: { name },
  examples: [{ name: 'Acme Support' }],
} as const

export type OrganisationBody = FromSchema<typeof organisation>
export type OrganisationNameBody = FromSchema<typeof organisationNameSchema>
