import type { PostgresDatabase } from './database.ts'

const portion = 1_024

/**
 * Draws the ids of signals before they are stored. So a signal can be looked for by its id where the connection broke before
 * PostgreSQL had answered, and cannot be stored twice.
 */
export function signalIds(database: PostgresDatabase): (count: number) => Promise<number[]> {
  const drawn: number[] = []
  return async (count) => {
    while (drawn.length < count) {
      const rows = await database.query(`select nextval('signal_ids') as id from generate_series(1, ${portion})`)
      drawn.push(...rows.map(({ id }) => id as number))
    }
    return drawn.splice(0, count)
  }
}
