import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

// An arbitrary number that nothing else in the same database should use.
export const advisoryLockId = 7_061_951
const lockPollMs = 50

/**
 * Waits until no other process changes the schema or the months, and keeps others waiting until this connection ends or unlocks. Polls,
 * because a statement that waits has a snapshot: `detach partition … finalize` waits for it while holding this lock, which is a deadlock.
 */
export async function takeLock(client: pg.ClientBase, timeoutMs = Number.POSITIVE_INFINITY): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const { rows } = await client.query(`select pg_try_advisory_lock(${advisoryLockId}) as "isTaken"`)
    if (rows[0]?.isTaken) return
    if (performance.now() > deadline) {
      throw new Error(`Another process has been changing the tables of signals for ${timeoutMs / 1_000} s`)
    }
    await pause(lockPollMs)
  }
}

const int8 = 20
const numeric = 1700

export function getTypeParser(oid: number, format?: 'text' | 'binary') {
  // Counts, IDs and times stay far below 2^53, so they can be plain numbers, as they are in SQLite.
  return oid === int8 || oid === numeric ? Number : pg.types.getTypeParser(oid, format as 'text')
}

const numberedSql = new Map<string, string>()

/** Turns `?` placeholders into `$1`, `$2`, … */
export function numberPlaceholders(sql: string): string {
  let text = numberedSql.get(sql)
  if (text === undefined) {
    let count = 0
    text = sql.replaceAll('?', () => `$${++count}`)
    numberedSql.set(sql, text)
  }
  return text
}
