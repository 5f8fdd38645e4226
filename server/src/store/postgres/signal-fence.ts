import type { PostgresDatabase } from './database.ts'

// Processes that were killed leave theirs behind. One that loses a fence in use to this takes another.
const maxFences = 1_000

// The delete waits for a batch that holds the fence, and the one that comes later finds none.
const remove = 'delete from batch_fences where id = $1'
const add = `
with fence as (insert into batch_fences default values returning id),
removed as (delete from batch_fences where id <= (select id from fence) - ${maxFences})
select id from fence`

/** The error of a statement whose fence does not exist: a division by zero. */
export const fenceGone = '22012'

/** What a statement needs to lock its fence, whose ID is the parameter of this number, and to fail without it. */
export function fenceSql(parameter: number): { cte: string; condition: string } {
  return {
    cte: `fence as (select id from batch_fences where id = $${parameter}::bigint for update)`,
    condition: '1 / (select count(*) from fence) = 1',
  }
}

/**
 * A row that every batch of this process locks until its commit. After a broken connection, PostgreSQL may still run a batch, or
 * receive it later. Once the fence is removed, the batch has ended, and one that comes later fails: what is not stored by then never
 * will be, and can be sent again.
 */
export interface SignalFence {
  id(): Promise<number>
  /** Uses another one from now on. */
  abandon(id: number | null): void
  /** Resolves once no batch with this one can store anything any more. */
  remove(id: number): Promise<void>
  close(): Promise<void>
}

export function signalFence(database: PostgresDatabase): SignalFence {
  let current: number | null = null
  return {
    async id() {
      current ??= (await database.query(add))[0]?.id as number
      return current
    },
    abandon(id) {
      if (current === id) current = null
    },
    async remove(id) {
      await database.query(remove, [id])
    },
    async close() {
      // One that is left behind does no harm.
      if (current !== null) await database.query(remove, [current]).catch(() => {})
    },
  }
}
