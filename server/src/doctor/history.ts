import type { DatabaseReader } from './database.ts'
import { type Finding, fail, listExamples, maxExamples, ok, plural } from './finding.ts'

/** The entries of a prompt are numbered from 1 to `history_count`, by time. */
export async function checkHistory(database: DatabaseReader): Promise<Finding> {
  const rows = await database.rows(`
    with placed as (
      select organisation_id, prompt_id, position,
        row_number() over (partition by organisation_id, prompt_id order by created_at, id) as place
      from history_entries),
    counted as (
      select organisation_id, prompt_id, count(*) as entries,
        sum(case when position = place then 0 else 1 end) as misplaced
      from placed group by organisation_id, prompt_id)
    select p.organisation_id, p.public_id, p.history_count, coalesce(c.entries, 0) as entries,
      coalesce(c.misplaced, 0) as misplaced, count(*) over () as total
    from prompts p left join counted c on c.organisation_id = p.organisation_id and c.prompt_id = p.id
    where p.history_count <> coalesce(c.entries, 0) or c.misplaced > 0
    order by p.organisation_id, p.id limit ${maxExamples}`)
  if (rows.length === 0) {
    const [all] = await database.rows('select count(*) as entries from history_entries')
    return ok(
      'history',
      `the positions and counts of ${plural(all?.entries as number, 'entry', 'entries')} are correct`,
    )
  }
  const examples = rows.map(
    ({ public_id, history_count, entries, misplaced }) =>
      `${public_id}: ${history_count} counted, ${entries} stored, ${misplaced} at the wrong position`,
  )
  const message = listExamples(examples, rows[0]?.total as number)
  return fail('history', message, 'Renumber these histories: docs/operations/doctor.md#history')
}
