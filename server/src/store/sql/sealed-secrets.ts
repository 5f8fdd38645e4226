import { operator } from '../../domain/access/audit.ts'
import type { Replacement, SealedSecretStore } from '../../domain/repositories/secret-rotation.ts'
import { placeColumns, sealedColumnsOf } from '../../domain/repositories/vault.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, type Row, statement } from './database.ts'

export function sqlSealedSecrets(database: Database): SealedSecretStore {
  return {
    async list(table, afterId, limit) {
      const columns = sealedColumnsOf(table)
      const isSet = columns.map((column) => `${column} is not null`).join(' or ')
      const organisationId = table === 'organisations' ? 'id' : 'organisation_id'
      const rows = await database.rows(
        `select id, ${organisationId} as owner, ${placeColumns[table] ?? 'null'} as place, ${columns.join(', ')}
         from ${table} where id > ? and (${isSet}) order by id limit ?`,
        [afterId, limit],
      )
      return rows.flatMap((row) =>
        columns
          .filter((column) => row[column] !== null)
          .map((column) => ({
            organisationId: row.owner as number,
            table,
            id: row.id as number,
            place: row.place as string | null,
            column,
            sealed: row[column] as string,
          })),
      )
    },

    async replace(organisationId, replacements, at) {
      let secrets = 0
      const count = (rows: Row[]) => {
        secrets += rows.length
        return []
      }
      const audit = ({ name }: Row) => {
        const subject = { id: organisationId, name: name as string }
        return auditEntry({
          organisationId,
          by: operator,
          at,
          action: 'secrets.reencrypted',
          subject,
          details: { secrets },
        })
      }
      await database.write([
        ...replacements.map((replacement) => ({ ...update(replacement), andThen: count })),
        {
          // The number is known only after the updates.
          ...statement('select name from organisations where id = ?', [organisationId]),
          andThen: (rows) => (secrets === 0 ? [] : rows.map(audit)),
        },
      ])
      return secrets
    },
  }
}

function update({ secret: { organisationId, table, id, place, column, sealed }, sealed: replacement }: Replacement) {
  const placeColumn = placeColumns[table]
  const own = table === 'organisations' ? [] : ['organisation_id = ?']
  // A repository that was connected again meanwhile has another hook ID.
  const samePlace = placeColumn === null ? [] : [`${placeColumn} = ?`]
  return statement(
    `update ${table} set ${column} = ? where ${[...own, 'id = ?', ...samePlace, `${column} = ?`].join(' and ')} returning id`,
    [
      replacement,
      ...(table === 'organisations' ? [] : [organisationId]),
      id,
      ...(placeColumn === null ? [] : [place]),
      sealed,
    ],
  )
}
