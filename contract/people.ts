import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles } from '../server/src/domain/access/api-key.ts'
import { personRoles, roleSources } from '../server/src/domain/access/person.ts'
import { defineOperations } from './operation.ts'
import { invalidSchema, list, object, one, pageQuerySchema, time, timeOrNull } from './schema.ts'

export const personRole = {
  enum: personRoles,
  description:
    '`viewer` reads, `member` also works on regressions, trials, deployments, share links and signals, `admin` does everything',
} as const

const personExample = {
  id: 5,
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  role: 'member',
  role_from: 'invitation',
  created_at: '2026-11-15T12:00:00.000Z',
  signed_in_at: '2026-11-16T09:30:00.000Z',
  disabled_at: null,
} as const

const personSchema = object(
  {
    id: { type: 'integer' },
    email: { type: 'string', description: 'In lower case' },
    name: { type: 'string' },
    role: personRole,
    role_from: {
      enum: roleSources,
      description: 'What decided the role. `default` and `group` decide again with each sign-in',
    },
    created_at: time,
    signed_in_at: { ...timeOrNull, description: 'When the person last signed in; null for never' },
    disabled_at: { ...timeOrNull, description: 'Since when the person cannot sign in; null if they can' },
  },
  { title: 'Person', description: 'A person in the organisation' },
)

const personUpdateSchema = {
  title: 'PersonUpdate',
  description: 'What to change; fields that are left out stay',
  type: 'object',
  minProperties: 1,
  properties: {
    role: personRole,
    disabled: {
      type: 'boolean',
      description: 'True ends their sessions and revokes their keys. False lets them sign in again',
    },
  },
  examples: [{ role: 'admin' }],
} as const

const personPageSchema = list(personSchema, 'One page of people, in the order in which they joined', [personExample])

const personParamsSchema = {
  person_id: { type: 'integer', description: 'The ID of the person', examples: [personExample.id] },
} as const

export type PersonBody = FromSchema<typeof personSchema>

export type PersonUpdateBody = FromSchema<typeof personUpdateSchema>

export const operations = defineOperations('People', {
  listPeople: {
    method: 'GET',
    path: '/api/v1/people',
    client: 'people.list',
    summary: 'List people',
    description:
      'Everyone who joined the organisation, including people who were disabled. Not for keys that are limited to prompts.',
    roles: readerRoles,
    query: pageQuerySchema,
    response: { 200: personPageSchema },
  },

  updatePerson: {
    method: 'PATCH',
    path: '/api/v1/people/:person_id',
    client: 'people.update',
    summary: 'Change the role of a person, or disable them',
    description:
      'Takes effect on the next request. A person who is disabled loses their sessions and their keys, which stay revoked if the ' +
      'person is enabled again. A lower role revokes those of their keys that may do more.',
    roles: ['admin'],
    params: personParamsSchema,
    body: personUpdateSchema,
    response: {
      200: one(personSchema, 'The person, as changed', personExample),
      422: invalidSchema('role must be "viewer", "member" or "admin"'),
    },
  },

  deletePerson: {
    method: 'DELETE',
    path: '/api/v1/people/:person_id',
    client: 'people.delete',
    summary: 'Delete a person',
    description:
      'Deletes their name, address and account, ends their sessions and revokes their keys. What they did stays, without their name, except in the audit log, ' +
      'which cannot be changed. They are someone new if they join again: to keep them out, disable them instead.',
    roles: ['admin'],
    params: personParamsSchema,
    response: { 204: { type: 'null', description: 'The person is deleted' } },
  },
})
