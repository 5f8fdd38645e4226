import type { FromSchema } from 'json-schema-to-ts'
import { auditActions } from '../../domain/access/audit.ts'
import { pageQuerySchema, paginationExample, paginationSchema } from '../page-schema.ts'

const auditEntrySchema = {
  title: 'AuditEntry',
  description: 'One action in the audit log',
  type: 'object',
  required: ['id', 'at', 'actor', 'action', 'subject', 'details', 'seq', 'hash'],
  properties: {
    id: { type: 'integer' },
    at: { type: 'string', format: 'date-time' },
    actor: {
      description: 'The key that was used, with its name at that time; null for the CLI',
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
    action: { enum: auditActions, description: 'What happened' },
    subject: {
      type: 'object',
      description: 'The resource that was changed, with its name at that time',
      required: ['id', 'name'],
      properties: { id: { type: 'string', description: 'The ID as used in paths' }, name: { type: 'string' } },
      additionalProperties: false,
    },
    details: { type: ['object', 'null'], description: 'More information, depending on the action' },
    seq: { type: ['integer', 'null'], description: "The entry's place in the chain of the organisation, from 1 on" },
    hash: {
      type: ['string', 'null'],
      description:
        'SHA-256 of this entry and the hash of the one before it, so that a changed or missing entry is noticed',
    },
  },
  additionalProperties: false,
} as const

export const auditPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: auditEntrySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'One page of entries, newest first',
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
          seq: 5,
          hash: '0c1f7e4a5d2b8c3e6f9a0b1d4c7e2f5a8b3d6c9e0f1a4b7c2d5e8f3a6b9c0d1e',
        },
      ],
      pagination: paginationExample(1),
    },
  ],
} as const

export const auditQuerySchema = {
  type: 'object',
  properties: {
    action: { enum: auditActions, description: 'Only this action' },
    actor: { type: 'string', description: 'Only what was done with this key, by its ID, or `operator` for the CLI' },
    since: {
      type: 'string',
      format: 'date-time',
      description: 'From this time, inclusive',
      examples: ['2026-11-01T00:00:00.000Z'],
    },
    until: {
      type: 'string',
      format: 'date-time',
      description: 'Until this time, exclusive',
      examples: ['2026-12-01T00:00:00.000Z'],
    },
    ...pageQuerySchema.properties,
  },
} as const

export type AuditEntryBody = FromSchema<typeof auditEntrySchema>
