import { operator } from '../../domain/access/audit.ts'
import type { Replacement, SealedSecretStore } from '../../domain/repositories/secret-rotation.ts'
import { type SealedColumn, sealedColumns, sealedOrganisationColumns } from '../../domain/repositories/vault.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, type Row, statement } from './database.ts'

const columns = Object.keys(sealedColumns) as SealedColumn[]
const organisationColumns = Object.keys(sealedOrganisationColumns) as SealedColumn[]

export function sqlSealedSecrets(database: Database): SealedSecretStore {
  return {
    async list(afterId, limit) {
      const rows = await database.rows(
        `select id, organisation_id, hook_id, ${columns.join(', ')} from repositories where id > ? order by id limit ?`,
        [afterId, limit],
      )
      return rows.flatMap((row) =>
        columns
          .filter((column) => row[column] !== null)
          .map((column) => ({
            organisationId: row.organisation_id as number,
            repositoryId: row.id as number,
            hookId: row.hook_id as string,
            column,
            sealed: row[column] as string,
          })),
      )
    },

    async listOfOrganisations(afterId, limit) {
      const isSet = organisationColumns.map((column) => `${column} is not null`).join(' or ')
      const rows = await database.rows(
        `select id, ${organisationColumns.join(', ')} from organisations where id > ? and (${isSet}) order by id limit ?`,
        [afterId, limit],
      )
      return rows.flatMap((row) =>
        organisationColumns
          .filter((column) => row[column] !== null)
          .map((column) => ({
            organisationId: row.id as number,
            repositoryId: null,
            hookId: null,
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

function update({
  secret: { organisationId, repositoryId, hookId, column, sealed },
  sealed: replacement,
}: Replacement) {
  if (repositoryId === null) {
    return statement(`update organisations set ${column} = ? where id = ? and ${column} = ? returning id`, [
      replacement,
      organisationId,
      sealed,
    ])
  }
  return statement(
    `update repositories set ${column} = ?
     where organisation_id = ? and id = ? and hook_id = ? and ${column} = ? returning id`,
    [replacement, organisationId, repositoryId, hookId, sealed],
  )
}
