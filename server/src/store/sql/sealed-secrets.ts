import type { SealedSecretStore } from '../../domain/repositories/secret-rotation.ts'
import { type SealedColumn, sealedColumns } from '../../domain/repositories/vault.ts'
import { type Database, statement } from './database.ts'

const columns = Object.keys(sealedColumns) as SealedColumn[]

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

    async replace({ organisationId, repositoryId, hookId, column, sealed }, replacement) {
      const [rows = []] = await database.write([
        statement(
          `update repositories set ${column} = ?
           where organisation_id = ? and id = ? and hook_id = ? and ${column} = ? returning id`,
          [replacement, organisationId, repositoryId, hookId, sealed],
        ),
      ])
      return rows.length > 0
    },
  }
}
