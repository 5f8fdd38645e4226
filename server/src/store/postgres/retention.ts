import type pg from 'pg'
import type { RetentionStore } from '../../domain/signals/retention.ts'
import { monthStart } from '../../domain/time.ts'
import {
  removalBatchSize,
  removeKeysOfRemovedSignals,
  removeSubjectsBatch,
  retainSince,
  sqlRetainedSince,
} from '../sql/retention.ts'
import { takeLock } from './connection.ts'
import type { PostgresDatabase } from './database.ts'
import { limitLockWaits } from './distributed-snapshot.ts'
import { partitionName } from './partitions.ts'

// How long to wait for readers of a month. Giving up is harmless: the next run tries again.
const lockTimeoutMs = 5_000

interface Partition {
  name: string
  /** Null if the partition is detached, true if detaching was interrupted. */
  detachPending: boolean | null
}

const partitionsBefore = `
select c.relname as name, i.inhdetachpending as "detachPending"
from pg_class c left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = 'signals'::regclass
where c.relkind = 'r' and c.relname ~ '^signals_\\d{4}_\\d{2}$' and c.relname < $1 and pg_table_is_visible(c.oid)
order by c.relname`

/** Citus cannot detach concurrently, so writers wait for the readers of a month, at most for the lock timeout. */
async function dropOnWorkers(client: pg.ClientBase, partition: string): Promise<void> {
  await client.query('begin')
  await limitLockWaits(client)
  await client.query(`drop table if exists ${partition}`)
  await client.query('commit')
}

/** Drops whole months, oldest first, without blocking writers or readers. Removes idempotency keys in batches. */
export function postgresRetention(database: PostgresDatabase): RetentionStore {
  async function drop({ name, detachPending }: Partition): Promise<void> {
    await database.onOwnConnection(async (client) => {
      if (database.isDistributed) return dropOnWorkers(client, name)
      await client.query(`set lock_timeout = ${lockTimeoutMs}`)
      // Without it, an import that creates the same month again could end in a deadlock. Closing the connection releases it.
      await takeLock(client, lockTimeoutMs)
      // Dropping an attached partition would make everyone wait for the longest-running reader of any month.
      if (detachPending !== null) {
        const how = detachPending ? 'finalize' : 'concurrently'
        await client.query(`alter table signals detach partition ${name} ${how}`)
      }
      await client.query(`drop table if exists ${name}`)
    })
  }

  return {
    retainedSince: sqlRetainedSince(database),
    async removeBatch(cutoff) {
      const month = monthStart(cutoff)
      const [, ...removed] = await database.write([retainSince(month), removeKeysOfRemovedSignals, removeSubjectsBatch])
      const rows = await database.query(partitionsBefore, [partitionName(month)])
      const [oldest, ...others] = rows as unknown as Partition[]
      if (oldest !== undefined) await drop(oldest)
      return others.length > 0 || removed.some((rows) => rows.length === removalBatchSize)
    },
  }
}
