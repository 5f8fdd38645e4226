import type { FromSchema } from 'json-schema-to-ts'
import { auditActions } from '../../domain/access/audit.ts'
import { pageQuerySchema, paginationExample, paginationSchema } from '../page-schema.ts'

const auditEntrySchema = {
  title: 'AuditEntry',
  type: 'object',
  required: ['id', 'at', 'actor', 'action', 'subject', 'details'],
  properties: {
    id: { type: 'integer' },
    at: { type: 'string', format: 'date-time' },
    actor: {
      description: 'The key that was used, under the name that it had then; null for the command on the server',
      anyOf: [
        {
          type: 'object',
          required: ['key_id', 'name'],
          properties: { key_id: { type: 'integer' }, name: { type: 'string' } },
          additionalProperties: false,
        },
        { type: 'null' },
      ],
    },
    action: { enum: auditActions, description: 'What was done' },
    subject: {
      type: 'object',
      description: 'What it was done to, and what people called that then',
      required: ['id', 'name'],
      properties: { id: { type: 'string', description: 'As it stands in paths' }, name: { type: 'string' } },
      additionalProperties: false,
    },
    details: { type: ['object', 'null'], description: 'What else is worth knowing, depending on the action' },
  },
  additionalProperties: false,
} as const

export const auditPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: auditEntrySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'The entries of the page, newest first',
  examples: [
    {
      data: [
        {
          id: 7,
          at: '2026-11-15T12:00:00.000Z',
          actor: { key_id: 3, name: 'Ada' },
          action: 'key.rotated',
          subject: { id: '12', name: 'support bot' },
          details: { new_key_id: 13 },
        },
      ],
      pagination: paginationExample(1),
    },
  ],
} as const

export const auditQuerySchema = {
  type: 'object',
  properties: {
    action: { enum: auditActions, description: 'Only these' },
    since: {
      type: 'string',
      format: 'date-time',
      description: 'From this time on',
      examples: ['2026-11-01T00:00:00.000Z'],
    },
    until: {
      type: 'string',
      format: 'date-time',
      description: 'Before this time',
      examples: ['2026-12-01T00:00:00.000Z'],
    },
    ...pageQuerySchema.properties,
  },
} as const

export type AuditEntryBody = FromSchema<typeof auditEntrySchema>
