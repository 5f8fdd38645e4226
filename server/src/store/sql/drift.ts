import { type DriftStore, decodeLikelihood, encodeLikelihood } from '../../domain/impact/model/drift-store.ts'
import { type Database, writeRows } from './database.ts'

export function sqlDrift(database: Database): DriftStore {
  return {
    async save({ organisationId, id }, logLikelihood, at) {
      const likelihoods = encodeLikelihood(logLikelihood)
      await writeRows(
        database,
        `insert into prompt_wander (organisation_id, prompt_id, likelihoods, judged_at) values (?, ?, ?, ?)
         on conflict (organisation_id, prompt_id) do update
         set likelihoods = excluded.likelihoods, judged_at = excluded.judged_at`,
        [organisationId, id, likelihoods, at],
      )
    },

    async ofOrganisation(organisationId, limit) {
      const rows = await database.rows(
        `select w.prompt_id, w.likelihoods from prompt_wander w
         join prompts p on p.organisation_id = w.organisation_id and p.id = w.prompt_id
         where w.organisation_id = ? and p.deleted_at is null order by w.judged_at desc, w.prompt_id limit ?`,
        [organisationId, limit],
      )
      return rows.flatMap((row) => {
        // A later version may use another grid.
        const logLikelihood = decodeLikelihood(row.likelihoods as string)
        return logLikelihood === null ? [] : [{ promptId: row.prompt_id as number, logLikelihood }]
      })
    },
  }
}
