import type { DatabaseReader } from './database.ts'
import { type Finding, fail, listExamples, maxExamples, ok, plural } from './finding.ts'

/** Every vote on a subject has the signal that it describes, unless it was withdrawn, and every such signal has its vote. */
export async function checkSubjects(database: DatabaseReader): Promise<Finding> {
  const kept = '(select kept_since from signal_retention)'
  const [votes] = await database.rows('select count(*) as count from signal_subjects')
  const mismatches = `
    select v.organisation_id, v.prompt_id, v.signal_id, 'the vote does not match its signal' as problem
    from signal_subjects v left join signals s on s.organisation_id = v.organisation_id and s.prompt_id = v.prompt_id
      and s.created_at = v.created_at and s.id = v.signal_id
    where v.created_at >= ${kept} and ((v.value is null) <> (s.id is null) or s.value <> v.value or s.subject <> v.subject
      or (s.id is not null and coalesce(s.version, '') <> coalesce(v.version, '')))
    union all
    select s.organisation_id, s.prompt_id, s.id, 'the signal has a subject and no vote' from signals s
    where s.subject is not null and s.created_at >= ${kept} and not exists (
      select 1 from signal_subjects v where v.organisation_id = s.organisation_id and v.prompt_id = s.prompt_id
        and v.subject = s.subject and v.signal_id = s.id)`
  const rows = await database.rows(`select m.*, count(*) over () as total from (${mismatches}) as m
    order by organisation_id, prompt_id, signal_id limit ${maxExamples}`)
  if (rows.length === 0) return ok('subjects', `${plural(votes?.count as number, 'vote')} match their signals`)
  const examples = rows.map(
    ({ organisation_id, prompt_id, signal_id, problem }) =>
      `organisation ${organisation_id}, prompt ${prompt_id}, signal ${signal_id}: ${problem}`,
  )
  const message = listExamples(examples, rows[0]?.total as number)
  return fail('subjects', message, 'Store these votes again: docs/operations/doctor.md#subjects')
}
