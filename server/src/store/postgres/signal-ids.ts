import type { PostgresDatabase } from './database.ts'

const portion = 1_024
// Milliseconds. The index on ids is small because they follow time: those of a process that had little to do are left unused.
const keepFor = 10_000

export interface SignalIds {
  draw(count: number): Promise<number[]>
  /** Leaves those that are drawn unused. After a failover the server may not know that it has given them. */
  forget(): void
}

/**
 * Draws the ids of signals before they are stored. So a signal can be looked for by its id where the connection broke before
 * PostgreSQL had answered, and cannot be stored twice.
 */
export function signalIds(database: PostgresDatabase): SignalIds {
  let drawn: number[] = []
  let drawnAt = 0

  function forget(): void {
    drawn = []
  }

  return {
    async draw(count) {
      if (performance.now() - drawnAt > keepFor) forget()
      while (drawn.length < count) {
        const rows = await database.query(`select nextval('signal_ids') as id from generate_series(1, ${portion})`)
        drawn.push(...rows.map(({ id }) => id as number))
        drawnAt = performance.now()
      }
      return drawn.splice(0, count)
    },
    forget,
  }
}
