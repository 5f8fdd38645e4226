import type { Socket } from 'node:net'
import type pg from 'pg'

export interface SilenceWatch {
  /** Leaves the connection alone until it is given back: what it is used for may take any time. */
  leave(client: pg.PoolClient): void
  stop(): void
}

interface Seen {
  bytes: number
  at: number
}

const lookEvery = 1_000

/**
 * Ends connections in use from which nothing has come for too long, so that whoever waits for an answer is told and the pool
 * has room again. The driver's own way, a timer for each statement, costs a tenth of the speed and 30 MB.
 */
export function endSilent(pool: pg.Pool, patience: number): SilenceWatch {
  const used = new Set<pg.PoolClient>()
  const seen = new Map<pg.PoolClient, Seen>()
  pool.on('acquire', (client) => used.add(client))
  pool.on('release', (_error, client) => {
    used.delete(client)
    seen.delete(client)
  })

  function look(client: pg.PoolClient, now: number): void {
    const socket = socketOf(client)
    const before = seen.get(client)
    if (before === undefined || before.bytes !== socket.bytesRead) {
      seen.set(client, { bytes: socket.bytesRead, at: now })
    } else if (now - before.at >= patience) {
      socket.destroy(new Error(`PostgreSQL has not answered for ${Math.round(patience / 1_000)} s`))
    }
  }

  const looks = setInterval(() => {
    const now = performance.now()
    for (const client of used) look(client, now)
  }, lookEvery).unref()

  return {
    leave(client) {
      used.delete(client)
    },
    stop() {
      clearInterval(looks)
    },
  }
}

/** The types of the driver do not know of it, though it is where everything goes through. */
function socketOf(client: pg.PoolClient): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream
}
