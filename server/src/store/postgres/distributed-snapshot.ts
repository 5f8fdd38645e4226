import type pg from 'pg'

/**
 * Makes the transaction that `client` has just begun, of the level repeatable read, see one moment of all servers. Each worker
 * takes its snapshot when it is asked first, so writers of signals are stopped on another connection until all have taken it.
 * The lock is on the table that every transaction changes that also changes the coordinator, such as a deletion and its audit entry.
 */
export async function fixSnapshots(client: pg.ClientBase, other: pg.ClientBase): Promise<void> {
  // One connection to each worker has one snapshot.
  await client.query('set local citus.max_adaptive_executor_pool_size = 1')
  await other.query('begin')
  try {
    await limitLockWaits(other)
    await other.query('lock table signal_hours in share mode').catch((cause) => {
      throw new Error(`Cannot stop the writers of signals for a moment: ${cause.message}. Try again later`, { cause })
    })
    await client.query('select count(*) from hour_revisions')
  } finally {
    await other.query('rollback')
  }
}

// Writers queue behind a lock that waits. It gives up before their worker counts as down (worker-queues.ts).
const lockTimeout = '3s'

/** Limits how long the rest of a transaction waits for a lock, on the workers too. There the setting of a session has no effect. */
export async function limitLockWaits(client: pg.ClientBase): Promise<void> {
  await client.query(`set local citus.propagate_set_commands = 'local'`)
  await client.query(`set local lock_timeout = '${lockTimeout}'`)
}
