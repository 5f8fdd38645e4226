import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles } from '../server/src/domain/access/api-key.ts'
import { plans } from '../server/src/domain/access/plan.ts'
import { defineOperations } from './operation.ts'
import { invalidSchema, object, one } from './schema.ts'

const name = { type: 'string', minLength: 1, maxLength: 200, description: 'Name of the organisation' } as const

const organisation = object(
  {
    id: { type: 'integer' },
    name,
    plan: { enum: plans },
    limits: object({
      signals_per_month: { type: ['integer', 'null'], description: "The plan's limit; null if it has none" },
      repositories: { type: 'integer', description: 'Connected repositories' },
      alerts: { type: 'integer' },
      segment_keys: {
        type: 'integer',
        description: 'Declared keys of the metadata, of the organisation or a prompt',
      },
    }),
    signal_retention_days: {
      type: ['integer', 'null'],
      description: 'After how many days signals are deleted; null if they are kept. Counts stay',
    },
    created_at: { type: 'string', format: 'date-time' },
  },
  { title: 'Organisation', description: 'The organisation that a key belongs to' },
)

export const organisationSchema = one(organisation, 'The organisation', {
  id: 1,
  name: 'Acme',
  plan: 'team',
  limits: { signals_per_month: 10_000, repositories: 100, alerts: 20, segment_keys: 5 },
  signal_retention_days: null,
  created_at: '2026-11-01T09:00:00.000Z',
})

const organisationNameSchema = {
  title: 'OrganisationName',
  description: 'The new name',
  type: 'object',
  required: ['name'],
  properties: { name },
  examples: [{ name: 'Acme Support' }],
} as const

export type OrganisationBody = FromSchema<typeof organisation>

export type OrganisationNameBody = FromSchema<typeof organisationNameSchema>

export const operations = defineOperations('Organisation', {
  getOrganisation: {
    method: 'GET',
    path: '/api/v1/organisation',
    client: 'organisation.get',
    summary: 'Get the organisation',
    description: 'The organisation of the key, with its plan and its limits.',
    roles: readerRoles,
    response: { 200: organisationSchema },
  },

  renameOrganisation: {
    method: 'PATCH',
    path: '/api/v1/organisation',
    client: 'organisation.rename',
    summary: 'Rename the organisation',
    description: 'Only the operator of the service changes the plan.',
    roles: ['admin'],
    body: organisationNameSchema,
    response: { 200: organisationSchema, 422: invalidSchema('name is required') },
  },
})
