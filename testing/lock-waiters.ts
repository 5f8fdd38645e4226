import { nodesOf } from './engines.ts'
import { queryRows } from './rows.ts'

/** How many statements on this PostgreSQL database wait for a lock, on the workers if it is distributed. */
export async function lockWaiters(url: string): Promise<number> {
  const counts = await Promise.all(nodesOf(url).map(countWaiters))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function countWaiters(url: string): Promise<number> {
  const sql = `select count(*) as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  const [row] = await queryRows(url, sql)
  return Number(row?.n)
}
