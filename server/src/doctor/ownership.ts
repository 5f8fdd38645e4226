import type { DatabaseReader } from './database.ts'
import { type Finding, fail, ok } from './finding.ts'

/** Columns that refer to a row of another table, which must belong to the same organisation. */
const references = [
  ['signals', 'prompt_id', 'prompts'],
  ['hour_sums', 'prompt_id', 'prompts'],
  ['version_sums', 'prompt_id', 'prompts'],
  ['hour_revisions', 'prompt_id', 'prompts'],
  ['signal_subjects', 'prompt_id', 'prompts'],
  ['signal_events', 'prompt_id', 'prompts'],
  ['history_entries', 'prompt_id', 'prompts'],
  ['edits', 'prompt_id', 'prompts'],
  ['prompts', 'repository_id', 'repositories'],
  ['history_entries', 'repository_id', 'repositories'],
  ['edits', 'repository_id', 'repositories'],
  ['pulls', 'repository_id', 'repositories'],
  ['pushes', 'repository_id', 'repositories'],
  ['deliveries', 'repository_id', 'repositories'],
  ['deployments', 'repository_id', 'repositories'],
  ['deployments', 'prompt_id', 'prompts'],
  ['prompt_wander', 'prompt_id', 'prompts'],
  ['prompt_standings', 'prompt_id', 'prompts'],
  ['shifts', 'prompt_id', 'prompts'],
  ['shift_triage', 'prompt_id', 'prompts'],
  ['regressions', 'prompt_id', 'prompts'],
  ['commit_places', 'repository_id', 'repositories'],
  ['pull_comments', 'repository_id', 'repositories'],
  ['briefings', 'repository_id', 'repositories'],
  ['proposals', 'repository_id', 'repositories'],
  ['proposals', 'regression_id', 'regressions'],
  ['regression_steps', 'regression_id', 'regressions'],
  ['notice_regressions', 'regression_id', 'regressions'],
  ['notice_regressions', 'notice_id', 'notices'],
  ['alert_deliveries', 'notice_id', 'notices'],
  ['history_entries', 'key_id', 'api_keys'],
  ['deployments', 'key_id', 'api_keys'],
  ['regressions', 'key_id', 'api_keys'],
  ['shift_triage', 'key_id', 'api_keys'],
  ['shift_steps', 'key_id', 'api_keys'],
  ['sessions', 'key_id', 'api_keys'],
  ['people', 'key_id', 'api_keys'],
  ['api_keys', 'person_id', 'people'],
] as const

export async function checkOwnership(database: DatabaseReader): Promise<Finding> {
  const strays: string[] = []
  for (const [table, column, owner] of references) {
    const [row] = await database.rows(
      // Citus joins a table of signals with one of the coordinator, but does not look into it for each row.
      `select count(*) as count from ${table} t left join ${owner} o on o.id = t.${column} and o.organisation_id = t.organisation_id
       where t.${column} is not null and o.id is null`,
    )
    if (row?.count !== 0) strays.push(`${row?.count} in ${table} by ${column}`)
  }
  if (strays.length === 0) {
    return ok('ownership', 'all rows belong to the organisation of their prompt, repository or key')
  }
  const message = `rows whose owner is missing or belongs to another organisation: ${strays.join('; ')}`
  return fail('ownership', message, 'Find out where they came from: docs/operations/doctor.md#ownership')
}
