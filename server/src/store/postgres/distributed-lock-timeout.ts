import type pg from 'pg'

// Writers queue behind a lock that waits. It gives up before their worker counts as down (worker-queues.ts).
const lockTimeout = '3s'

/** Limits how long the rest of a transaction waits for a lock, on the workers too. There the setting of a session has no effect. */
export async function limitLockWaits(client: pg.ClientBase): Promise<void> {
  await client.query(`set local citus.propagate_set_commands = 'local'`)
  await client.query(`set local lock_timeout = '${lockTimeout}'`)
}
