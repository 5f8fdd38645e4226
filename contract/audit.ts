import type { FromSchema } from 'json-schema-to-ts'
import { auditActions } from '../server/src/domain/access/audit.ts'
import { defineOperations } from './operation.ts'
import { invalidTimeSchema, list, object, pageQuerySchema, periodQuerySchema } from './schema.ts'

const auditEntrySchema = object(
  {
    id: { type: 'integer' },
    at: { type: 'string', format: 'date-time' },
    actor: {
      description: 'The key that was used, with its name at that time; null for the CLI',
      anyOf: [
        object({
          key_id: { type: 'integer' },
          name: { type: 'string', description: 'The name of the key, or of the person who was signed in' },
          person_id: {
            type: ['integer', 'null'],
            description: 'The person who was signed in, or whom the key belongs to; null for a key of the organisation',
          },
        }),
        { type: 'null' },
      ],
    },
    action: { enum: auditActions, description: 'What happened' },
    subject: object(
      { id: { type: 'string', description: 'The ID as used in paths' }, name: { type: 'string' } },
      { description: 'The resource that was changed, with its name at that time' },
    ),
    details: { type: ['object', 'null'], description: 'More information, depending on the action' },
    seq: { type: ['integer', 'null'], description: "The entry's place in the chain of the organisation, from 1 on" },
    hash: {
      type: ['string', 'null'],
      description:
        'SHA-256 of this entry and the hash of the one before it, so that a changed or missing entry is noticed',
    },
  },
  { title: 'AuditEntry', description: 'One action in the audit log' },
)

const auditPageSchema = list(auditEntrySchema, 'One page of entries, newest first', [
  {
    id: 7,
    at: '2026-11-15T12:00:00.000Z',
    actor: { key_id: 3, name: 'Ada', person_id: null },
    action: 'key.rotated',
    subject: { id: '12', name: 'support bot' },
    details: { new_key_id: 13 },
    seq: 5,
    hash: '0c1f7e4a5d2b8c3e6f9a0b1d4c7e2f5a8b3d6c9e0f1a4b7c2d5e8f3a6b9c0d1e',
  },
])

const auditQuerySchema = {
  action: { enum: auditActions, description: 'Only this action' },
  actor: { type: 'string', description: 'Only what was done with this key, by its ID, or `operator` for the CLI' },
  person: {
    type: 'integer',
    description: 'Only what this person did, by their ID: in the console, and with each of their keys',
  },
  ...periodQuerySchema,
  ...pageQuerySchema,
} as const

export type AuditEntryBody = FromSchema<typeof auditEntrySchema>

export const operations = defineOperations('Audit', {
  listAudit: {
    method: 'GET',
    path: '/api/v1/audit',
    client: 'audit.list',
    summary: 'List audit entries',
    description:
      'Who created, rotated and revoked keys; connected and disconnected repositories and rotated their webhook secrets; ' +
      'created, renamed and deleted prompts; recorded and exported history; imported, exported, deleted and erased signals; renamed the ' +
      'organisation and changed its plan; rotated the secret key; signed in; and tried a revoked or expired key. Newest first. The entry of a change is ' +
      'written in the same transaction as the change, and each entry contains a hash of the one before it.',
    roles: ['admin'],
    query: auditQuerySchema,
    response: { 200: auditPageSchema, 422: invalidTimeSchema('since') },
  },
})
