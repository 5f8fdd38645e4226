import {
  type Invitation,
  type InvitationStore,
  maxOpenInvitations,
  tooManyInvitations,
} from '../../domain/access/invitation.ts'
import type { PersonRole } from '../../domain/access/person.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, firstOrNull, type Row, requireRow, statement, writeRows } from './database.ts'
import { lockOrganisation, requireRoom } from './organisations.ts'

const selectInvitations = `select i.id, i.organisation_id, i.role, i.email, i.hint, i.created_at, i.expires_at,
    coalesce(k.name, 'operator') as created_by, i.accepted_at, i.revoked_at
  from invitations i left join api_keys k on k.id = i.key_id`
const isOpen = 'accepted_at is null and revoked_at is null'
/** An invitation ends with the key that created it, and with the role that could: a leaked key or an admin who left invites no one. */
const isVouchedFor =
  "(i.key_id is null or (k.role = 'admin' and k.revoked_at is null and (k.expires_at is null or k.expires_at > ?)))"

export function sqlInvitations(database: Database): InvitationStore {
  return {
    async create({ organisationId, role, email, tokenHash, hint, createdAt, expiresAt }, by) {
      const created = (row: Row) =>
        auditEntry({
          organisationId,
          by,
          at: createdAt,
          action: 'invitation.created',
          subject: { id: row.id as number, name: email ?? 'anyone with the link' },
          details: { role, link: `…${hint}` },
        })
      const [, , , rows] = await database.write([
        // Concurrent requests must not exceed the limit together.
        lockOrganisation(organisationId),
        statement('delete from invitations where organisation_id = ? and expires_at <= ?', [organisationId, createdAt]),
        requireRoom(
          maxOpenInvitations,
          `invitations i left join api_keys k on k.id = i.key_id
             where i.organisation_id = ? and i.accepted_at is null and i.revoked_at is null and ${isVouchedFor}`,
          [organisationId, createdAt],
          tooManyInvitations,
        ),
        {
          ...statement(
            `insert into invitations (organisation_id, role, email, token_hash, hint, key_id, created_at, expires_at)
             values (?, ?, ?, ?, ?, ?, ?, ?) returning id`,
            [organisationId, role, email, tokenHash, hint, by?.keyId ?? null, createdAt, expiresAt],
          ),
          andThen: (rows) => rows.map(created),
        },
      ])
      const { id } = requireRow(rows)
      return toInvitation(requireRow(await database.rows(`${selectInvitations} where i.id = ?`, [id as number])))
    },

    async list(organisationId, now) {
      const rows = await database.rows(
        `${selectInvitations} where i.organisation_id = ? and i.accepted_at is null and i.revoked_at is null
           and i.expires_at > ? and ${isVouchedFor} order by i.id desc`,
        [organisationId, now, now],
      )
      return rows.map(toInvitation)
    },

    async find(tokenHash, now) {
      const rows = await database.rows(
        `select found.*, case when accepted_at is null and revoked_at is null and expires_at > ? and id in (
             select i.id from invitations i left join api_keys k on k.id = i.key_id where i.token_hash = ? and ${isVouchedFor})
           then 1 else 0 end as is_open
         from (${selectInvitations} where i.token_hash = ?) as found`,
        [now, tokenHash, now, tokenHash],
      )
      return firstOrNull(rows, (row) => ({ ...toInvitation(row), isOpen: row.is_open === 1 }))
    },

    async accept({ id }, at) {
      const rows = await writeRows(
        database,
        `update invitations set accepted_at = ? where id = ? and ${isOpen} and expires_at > ? and id in (
           select i.id from invitations i left join api_keys k on k.id = i.key_id where i.id = ? and ${isVouchedFor})
         returning id`,
        [at, id, at, id, at],
      )
      return rows.length > 0
    },

    async revoke(organisationId, id, at, by) {
      const find = await database.rows(`${selectInvitations} where i.organisation_id = ? and i.id = ?`, [
        organisationId,
        id,
      ])
      const invitation = firstOrNull(find, toInvitation)
      if (invitation === null) return null
      const { email, hint } = invitation
      const revoked = () =>
        auditEntry({
          organisationId,
          by,
          at,
          action: 'invitation.revoked',
          subject: { id, name: email ?? 'anyone with the link' },
          details: { link: `…${hint}` },
        })
      const [rows = []] = await database.write([
        {
          ...statement(`update invitations set revoked_at = ? where id = ? and ${isOpen} returning id`, [at, id]),
          andThen: (rows) => rows.map(revoked),
        },
      ])
      return rows.length > 0 ? invitation : null
    },
  }
}

function toInvitation(row: Row): Invitation {
  return {
    id: row.id as number,
    organisationId: row.organisation_id as number,
    role: row.role as PersonRole,
    email: row.email as string | null,
    hint: row.hint as string,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
    createdBy: row.created_by as string,
  }
}
