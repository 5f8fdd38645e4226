import { type Role, unknownSecretHash } from '../../domain/access/api-key.ts'
import {
  deletedPerson,
  keyRoles,
  knownAddress,
  ownKeyRoles,
  type Person,
  type PersonRole,
  type PersonStore,
  personRoles,
  type RoleSource,
} from '../../domain/access/person.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, firstOrNull, type Row, requireRow, type Statement, statement } from './database.ts'
import { insertKey } from './keys.ts'
import { lockOrganisation } from './organisations.ts'
import { pageRows } from './page-rows.ts'

const columns =
  'p.id, p.organisation_id, p.email, p.name, p.subject, p.key_id, p.role_from, p.created_at, p.signed_in_at, k.role, k.revoked_at'
const joined = 'people p join api_keys k on k.id = p.key_id'
const selectPeople = `select ${columns} from ${joined}`

export function sqlPeople(database: Database): PersonStore {
  const ofOrganisation = (organisationId: number, condition: string, value: string | number) =>
    database.rows(`${selectPeople} where p.organisation_id = ? and ${condition}`, [organisationId, value])

  async function reread({ organisationId, id }: Person): Promise<Person> {
    return toPerson(requireRow(await ofOrganisation(organisationId, 'p.id = ?', id)))
  }

  return {
    async add({ organisationId, email, name, subject, role, roleFrom, createdAt }) {
      const key = {
        organisationId,
        personId: null,
        name,
        role: keyRoles[role],
        prompts: null,
        hash: unknownSecretHash(),
        hint: '',
        createdAt,
        expiresAt: null,
        signing: null,
      }
      const addPerson = (keyId: number): Statement => ({
        ...statement(
          `insert into people (organisation_id, email, name, subject, key_id, role_from, created_at)
           values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning id`,
          [organisationId, email, name, subject, keyId, roleFrom, createdAt],
        ),
        orThrow: () => knownAddress(email),
        andThen: (rows) => {
          const id = requireRow(rows).id as number
          const details = { email, role, role_from: roleFrom }
          return [
            statement('update api_keys set person_id = ? where id = ?', [id, keyId]),
            auditEntry({
              organisationId,
              by: { keyId },
              at: createdAt,
              action: 'person.added',
              subject: { id, name },
              details,
            }),
          ]
        },
      })
      await database.write([{ ...insertKey(key), andThen: (rows) => [addPerson(requireRow(rows).id as number)] }])
      return toPerson(requireRow(await ofOrganisation(organisationId, 'p.email = ?', email)))
    },

    async find(organisationId, id) {
      return firstOrNull(await ofOrganisation(organisationId, 'p.id = ?', id), toPerson)
    },

    async findInAnyOrganisation(id) {
      return firstOrNull(await database.rows(`${selectPeople} where p.id = ?`, [id]), toPerson)
    },

    async ofKey(keyId) {
      const rows = await database.rows(`${selectPeople} where p.id = (select person_id from api_keys where id = ?)`, [
        keyId,
      ])
      return firstOrNull(rows, toPerson)
    },

    async page(organisationId, request) {
      const from = `${joined} where p.organisation_id = ?`
      const listed = { columns, from, parameters: [organisationId], order: 'p.id' }
      const { rows, totalCount } = await pageRows(database, listed, request)
      return { people: rows.map(toPerson), totalCount }
    },

    async list(organisationId) {
      const rows = await database.rows(`${selectPeople} where p.organisation_id = ? order by p.id`, [organisationId])
      return rows.map(toPerson)
    },

    async inOrganisations(email, subject) {
      const rows = await database.rows(
        `${selectPeople} where p.email = ? or p.subject = ? order by coalesce(p.signed_in_at, 0) desc, p.id`,
        [email, subject],
      )
      return rows.map(toPerson)
    },

    async setRole(person, role, from, at, by) {
      const { organisationId, id, keyId, name } = person
      const allowed = JSON.stringify(ownKeyRoles(role))
      const changed = (rows: Row[]) => {
        const details = { from: person.role, to: role, ...(rows.length > 0 && { revoked_keys: rows.length }) }
        return [auditEntry({ organisationId, by, at, action: 'person.role_changed', subject: { id, name }, details })]
      }
      await database.writeAndInvalidate([
        // No key of theirs is created meanwhile: see `requireAllowed` in keys.ts.
        lockOrganisation(organisationId),
        ...endLinks(person, at, role),
        statement('update people set role_from = ? where organisation_id = ? and id = ?', [from, organisationId, id]),
        statement('update api_keys set role = ? where id = ?', [keyRoles[role], keyId]),
        {
          ...statement(
            `update api_keys set revoked_at = ? where person_id = ? and id <> ? and revoked_at is null
             and role not in ${database.jsonElements('text')} returning id`,
            [at, id, keyId, allowed],
          ),
          andThen: role === person.role ? () => [] : changed,
        },
      ])
      return reread(person)
    },

    async disable(person, at, by) {
      const { organisationId, id, name } = person
      const disabled = (rows: Row[]) => {
        if (rows.length === 0) return []
        // One of them is that of the sessions.
        const details = rows.length > 1 ? { revoked_keys: rows.length - 1 } : undefined
        const entry = { organisationId, by, at, action: 'person.disabled', subject: { id, name } } as const
        return [auditEntry({ ...entry, ...(details && { details }) })]
      }
      await database.writeAndInvalidate([
        lockOrganisation(organisationId),
        ...endLinks(person, at),
        {
          ...statement('update api_keys set revoked_at = ? where person_id = ? and revoked_at is null returning id', [
            at,
            id,
          ]),
          andThen: disabled,
        },
      ])
      return reread(person)
    },

    async enable(person, at, by) {
      const { organisationId, id, keyId, name } = person
      const enabled = (rows: Row[]) =>
        rows.map(() => auditEntry({ organisationId, by, at, action: 'person.enabled', subject: { id, name } }))
      await database.writeAndInvalidate([
        // Only now: until then, a request with one of their cookies is told that access has ended.
        statement(
          'delete from sessions where key_id in (select id from api_keys where id = ? and revoked_at is not null)',
          [keyId],
        ),
        {
          ...statement('update api_keys set revoked_at = null where id = ? and revoked_at is not null returning id', [
            keyId,
          ]),
          andThen: enabled,
        },
      ])
      return reread(person)
    },

    async delete({ organisationId, id, email }, at, by) {
      const keys = 'key_id in (select id from api_keys where person_id = ?)'
      const rename = (table: string, column: string) =>
        statement(`update ${table} set ${column} = ? where organisation_id = ? and ${column} is not null and ${keys}`, [
          ...[deletedPerson, organisationId, id],
        ])
      /** What the person decided and did about regressions or shifts stays, without their name and address. */
      const forgetInTriage = (decisions: string, own: string, steps: string, step: string) => [
        // Before the names that tell who acknowledged it are gone.
        statement(
          `update ${decisions} set acknowledged_by = ? where organisation_id = ? and exists (select 1 from ${steps} s
             where s.organisation_id = ${decisions}.organisation_id and s.${step} = ${decisions}.${own} and s.action = 'acknowledged'
               and s.key_name = ${decisions}.acknowledged_by and s.${keys})`,
          [deletedPerson, organisationId, id],
        ),
        rename(steps, 'key_name'),
        rename(decisions, 'key_name'),
        statement(`update ${decisions} set owner = null where organisation_id = ? and lower(owner) = ?`, [
          ...[organisationId, email],
        ]),
        statement(`update ${steps} set text = ? where organisation_id = ? and action = 'owner' and lower(text) = ?`, [
          deletedPerson,
          organisationId,
          email,
        ]),
      ]
      await database.writeAndInvalidate([
        lockOrganisation(organisationId),
        ...forgetInTriage('regressions', 'id', 'regression_steps', 'regression_id'),
        ...forgetInTriage('shift_triage', 'shift_id', 'shift_steps', 'shift_id'),
        rename('trials', 'started_by'),
        rename('proposals', 'proposed_by'),
        statement('delete from invitations where organisation_id = ? and email = ?', [organisationId, email]),
        statement(`delete from sessions where ${keys}`, [id]),
        {
          ...statement('delete from people where organisation_id = ? and id = ? returning id', [organisationId, id]),
          andThen: (rows) =>
            rows.map(() =>
              auditEntry({
                ...{ organisationId, by, at, action: 'person.deleted' },
                subject: { id, name: deletedPerson },
              }),
            ),
        },
        // After the entry, which names the key of the actor, who may be the person.
        statement(
          'update api_keys set revoked_at = coalesce(revoked_at, ?), name = ?, person_id = null where person_id = ?',
          [at, deletedPerson, id],
        ),
      ])
    },

    async signedIn({ organisationId, id, keyId }, { email, name, subject }, at, unlessSince) {
      const isUnused =
        'and (signed_in_at is null or signed_in_at < ?) and not exists (select 1 from people o where o.email = ? and o.signed_in_at >= ?)'
      const [rows = []] = await database.write([
        {
          ...statement(
            `update people set name = ?, subject = coalesce(?, subject), signed_in_at = ?,
               email = case when exists (select 1 from people o where o.organisation_id = ? and o.email = ? and o.id <> ?)
                 then email else ? end
             where organisation_id = ? and id = ? ${unlessSince === undefined ? '' : isUnused} returning id`,
            [
              ...[name, subject, at, organisationId, email, id, email, organisationId, id],
              ...(unlessSince === undefined ? [] : [unlessSince, email, unlessSince]),
            ],
          ),
          andThen: (rows) => rows.map(() => statement('update api_keys set name = ? where id = ?', [name, keyId])),
        },
      ])
      return rows.length > 0
    },
  }
}

/** Ends the invitations and share links that the person created, as far as their role no longer allows them. */
function endLinks({ organisationId, keyId }: Person, at: number, role?: PersonRole): Statement[] {
  const tables = [
    ...(role === 'admin' ? [] : ['invitations']),
    ...(role === undefined || role === 'viewer' ? ['shares'] : []),
  ]
  return tables.map((table) =>
    statement(`update ${table} set revoked_at = ? where organisation_id = ? and key_id = ? and revoked_at is null`, [
      at,
      organisationId,
      keyId,
    ]),
  )
}

function toPerson(row: Row): Person {
  const keyRole = row.role as Role
  return {
    id: row.id as number,
    organisationId: row.organisation_id as number,
    email: row.email as string,
    name: row.name as string,
    subject: row.subject as string | null,
    keyId: row.key_id as number,
    role: personRoles.find((role) => keyRoles[role] === keyRole) as PersonRole,
    roleFrom: row.role_from as RoleSource,
    createdAt: row.created_at as number,
    signedInAt: row.signed_in_at as number | null,
    disabledAt: row.revoked_at as number | null,
  }
}
