import type { Plan } from '../../domain/access/plan.ts'
import {
  type AdapterName,
  decodeSettings,
  maxSources,
  type NewSource,
  noSettings,
  type Source,
  type SourceStore,
  tooManySources,
} from '../../domain/sources/source.ts'
import { auditOf } from './audit-chain.ts'
import { type Database, firstOrNull, type Row, requireRow, statement, writeRows } from './database.ts'
import { lockOrganisation, requireRoom } from './organisations.ts'

const columns = `id, organisation_id, public_id, name, adapter, settings, sealed_secret, created_at, received, recorded, rejected,
  last_received_at, last_recorded_at, last_rejected_at, last_rejection, read_until`

export function sqlSources(database: Database): SourceStore {
  return {
    async list(organisationId) {
      const sql = `select ${columns} from sources where organisation_id = ? order by id`
      return (await database.rows(sql, [organisationId])).map(toSource)
    },

    async find(organisationId, publicId) {
      const sql = `select ${columns} from sources where organisation_id = ? and public_id = ?`
      return firstOrNull(await database.rows(sql, [organisationId, publicId]), toSource)
    },

    async findInAnyOrganisation(publicId) {
      const sql = `select ${columns}, (select plan from organisations where id = sources.organisation_id) as plan
        from sources where public_id = ?`
      return firstOrNull(await database.rows(sql, [publicId]), (row) => ({
        ...toSource(row),
        plan: row.plan as Plan,
      }))
    },

    async add(source, by) {
      const { organisationId } = source
      const [, , rows] = await database.write([
        // Concurrent requests must not exceed the limit together.
        lockOrganisation(organisationId),
        requireRoom(maxSources, 'sources where organisation_id = ?', [organisationId], tooManySources),
        insertSource(source),
        auditOf(source, 'source.added', source.createdAt, by, { adapter: source.adapter }),
      ])
      return toSource(requireRow(rows))
    },

    async update(source, { name, settings, sealedSecret }, at, by) {
      // What stays the same may have been changed since it was read: by another request, or a rotation of the secret key.
      const changed = [
        { column: 'name', value: name, isChanged: name !== source.name },
        {
          column: 'settings',
          value: JSON.stringify(settings),
          isChanged: JSON.stringify(settings) !== JSON.stringify(source.settings),
        },
        { column: 'sealed_secret', value: sealedSecret, isChanged: sealedSecret !== source.sealedSecret },
      ].filter(({ isChanged }) => isChanged)
      const [rows = []] = await database.write([
        {
          ...statement(
            `update sources set ${['poll_at = case when poll_at is null then null else cast(? as bigint) end', ...changed.map(({ column }) => `${column} = ?`)].join(', ')}
             where organisation_id = ? and id = ? returning ${columns}`,
            // What was wrong may be right now.
            [at, ...changed.map(({ value }) => value), source.organisationId, source.id],
          ),
          andThen(rows) {
            // Never the secret itself.
            const fields = changed.map(({ column }) => column.replace('sealed_', '')).join(', ')
            return rows.map(() =>
              auditOf({ ...source, name }, 'source.updated', at, by, { changed: fields || 'nothing' }),
            )
          },
        },
      ])
      return firstOrNull(rows, toSource)
    },

    async remove(source, at, by) {
      await database.write([
        {
          ...statement('delete from sources where organisation_id = ? and id = ? returning id', [
            source.organisationId,
            source.id,
          ]),
          andThen: (rows) => rows.map(() => auditOf(source, 'source.removed', at, by)),
        },
      ])
    },

    async duePolls(now, limit) {
      const rows = await database.rows(
        `select id, organisation_id from (
           select id, organisation_id, poll_at, row_number() over (partition by organisation_id order by poll_at, id) as turn
           from sources where poll_at <= ?) as due
         where turn = 1 order by poll_at limit ?`,
        [now, limit],
      )
      return rows.map((row) => ({ id: row.id as number, organisationId: row.organisation_id as number }))
    },

    async claimPoll({ organisationId, id }, now, until) {
      const rows = await writeRows(
        database,
        `update sources set poll_at = ? where organisation_id = ? and id = ? and poll_at <= ?
         returning ${columns}, (select plan from organisations where id = sources.organisation_id) as plan`,
        [until, organisationId, id, now],
      )
      return firstOrNull(rows, (row) => ({ ...toSource(row), plan: row.plan as Plan }))
    },

    async continueAt({ organisationId, id }, { readUntil, pollAt }) {
      await writeRows(database, 'update sources set read_until = ?, poll_at = ? where organisation_id = ? and id = ?', [
        readUntil,
        pollAt,
        organisationId,
        id,
      ])
    },

    async count({ organisationId, id }, counts) {
      const { received, recorded, rejected, lastReceivedAt, lastRecordedAt, lastRejectedAt, lastRejection } = counts
      await writeRows(
        database,
        `update sources set received = received + ?, recorded = recorded + ?, rejected = rejected + ?,
           last_received_at = coalesce(?, last_received_at), last_recorded_at = coalesce(?, last_recorded_at),
           last_rejected_at = coalesce(?, last_rejected_at), last_rejection = coalesce(?, last_rejection)
         where organisation_id = ? and id = ?`,
        [
          ...[received, recorded, rejected, lastReceivedAt, lastRecordedAt, lastRejectedAt, lastRejection],
          ...[organisationId, id],
        ],
      )
    },
  }
}

function insertSource(source: NewSource) {
  const { organisationId, publicId, name, adapter, settings, sealedSecret, createdAt, pollAt } = source
  return statement(
    `insert into sources (organisation_id, public_id, name, adapter, settings, sealed_secret, created_at, poll_at)
     values (?, ?, ?, ?, ?, ?, ?, ?) returning ${columns}`,
    [organisationId, publicId, name, adapter, JSON.stringify(settings), sealedSecret, createdAt, pollAt],
  )
}

function toSource(row: Row): Source {
  return {
    id: row.id as number,
    organisationId: row.organisation_id as number,
    publicId: row.public_id as string,
    name: row.name as string,
    adapter: row.adapter as AdapterName,
    settings: decodeSettings(row.settings as string) ?? noSettings,
    sealedSecret: row.sealed_secret as string | null,
    createdAt: row.created_at as number,
    readUntil: row.read_until as number | null,
    counts: {
      received: row.received as number,
      recorded: row.recorded as number,
      rejected: row.rejected as number,
      lastReceivedAt: row.last_received_at as number | null,
      lastRecordedAt: row.last_recorded_at as number | null,
      lastRejectedAt: row.last_rejected_at as number | null,
      lastRejection: row.last_rejection as string | null,
    },
  }
}
