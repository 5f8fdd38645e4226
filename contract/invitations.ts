import type { FromSchema } from 'json-schema-to-ts'
import { defineOperations } from './operation.ts'
import { personRole } from './people.ts'
import { invalidSchema, list, object, one, pageQuerySchema, time } from './schema.ts'

const email = {
  type: ['string', 'null'],
  description: 'The only address that may use the link; null for anyone who has it',
} as const

const newInvitationSchema = {
  title: 'NewInvitation',
  description: 'An invitation to create',
  type: 'object',
  properties: { role: { ...personRole, default: 'member' }, email: { ...email, default: null } },
  examples: [{ role: 'member', email: 'ada@example.com' }],
} as const

const invitationExample = {
  id: 4,
  role: 'member',
  email: 'ada@example.com',
  hint: 'k3Zp',
  created_by: 'Grace Hopper',
  created_at: '2026-11-15T12:00:00.000Z',
  expires_at: '2026-11-22T12:00:00.000Z',
} as const

const invitationSchema = object(
  {
    id: { type: 'integer' },
    role: personRole,
    email,
    hint: { type: 'string', description: 'The last four characters of the link' },
    created_by: { type: 'string', description: 'The name of the person or key that created it' },
    created_at: time,
    expires_at: time,
  },
  { title: 'Invitation', description: 'A link that lets one person join, without its token' },
)

const createdInvitationSchema = object(
  {
    ...invitationSchema.properties,
    url: { type: 'string', description: 'The link itself, shown only once' },
    is_mailed: { type: 'boolean', description: 'Whether the service also sends the link to the address' },
  },
  { title: 'CreatedInvitation', description: 'A new invitation' },
)

export type NewInvitationBody = FromSchema<typeof newInvitationSchema>

export type InvitationBody = FromSchema<typeof invitationSchema>

export const operations = defineOperations('People', {
  listInvitations: {
    method: 'GET',
    path: '/api/v1/invitations',
    client: 'invitations.list',
    summary: 'List invitations',
    description: 'Those that can still be accepted, newest first.',
    roles: ['admin'],
    query: pageQuerySchema,
    response: { 200: list(invitationSchema, 'One page of invitations', [invitationExample]) },
  },

  createInvitation: {
    method: 'POST',
    path: '/api/v1/invitations',
    client: 'invitations.create',
    needsBody: true,
    summary: 'Invite a person',
    description:
      'A link that lets one person join with this role, once they have signed in. It is shown only once, and is valid for 7 days. ' +
      'If the service can send email, it also sends the link to the address.',
    roles: ['admin'],
    body: newInvitationSchema,
    response: {
      201: one(createdInvitationSchema, 'The new invitation, shown only once', {
        ...invitationExample,
        url: 'https://ledger.example.com/sign-in#pli_000000000000000000000000000000000000000k3Zp',
        is_mailed: true,
      }),
      422: invalidSchema('role must be "viewer", "member" or "admin"'),
    },
  },

  revokeInvitation: {
    method: 'DELETE',
    path: '/api/v1/invitations/:invitation_id',
    client: 'invitations.revoke',
    summary: 'Revoke an invitation',
    description: 'The link no longer lets anyone join.',
    roles: ['admin'],
    params: {
      invitation_id: { type: 'integer', description: 'The ID of the invitation', examples: [invitationExample.id] },
    },
    response: { 204: { type: 'null', description: 'The invitation is revoked' } },
  },
})
