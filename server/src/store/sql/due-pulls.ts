import type { Database, Row } from './database.ts'

/** Rows about pull requests whose time has come. Organisations take turns: one with many does not delay another. */
export function duePulls(
  database: Database,
  table: 'briefings' | 'trial_labels',
  now: number,
  limit: number,
): Promise<Row[]> {
  return database.rows(
    `select * from (
       select t.*, row_number() over (partition by organisation_id order by due_at, repository_id, pr_number) as turn
       from ${table} t where due_at <= ?) as due
     order by turn, due_at limit ?`,
    [now, limit],
  )
}
