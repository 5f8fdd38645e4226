import { type ColumnTypes, type Database, type Statement, statement } from './database.ts'

const columns: ColumnTypes = { prompt: 'bigint' }

/** What follows an insert into judge_queue. A process that is judging the prompt has not seen the change. */
const claimAgain = 'on conflict (organisation_id, prompt_id) do update set claimed_until = 0'

/** Has the service judge these prompts, which may run in another process, or later. In order, which prevents deadlocks. */
export function queueForJudge(database: Database, organisationId: number, promptIds: Iterable<number>): Statement {
  const records = [...new Set(promptIds)].map((prompt) => ({ prompt }))
  return statement(
    `insert into judge_queue (organisation_id, prompt_id)
     select cast(? as bigint), prompt from ${database.jsonRecords(columns)} where true order by prompt ${claimAgain}`,
    [organisationId, JSON.stringify(records)],
  )
}

/** The same for all prompts in a table with hourly sums or staged signals. */
export function queueAllForJudge(table: string, condition = 'true'): string {
  return `insert into judge_queue (organisation_id, prompt_id)
    select organisation_id, prompt_id from ${table} where ${condition} group by organisation_id, prompt_id
    order by organisation_id, prompt_id ${claimAgain}`
}
