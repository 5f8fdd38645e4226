import type { RetentionStore } from '../../domain/signals/retention.ts'
import { monthStart } from '../../domain/time.ts'
import { keepSince, removeKeysStep, sqlKeptSince, stepSize } from '../sql/retention.ts'
import type { PostgresDatabase } from './database.ts'
import { partitionOf } from './months.ts'

// How long to wait for whoever is still reading a month. They hold nobody up but us, and there is always a next time.
const patience = '5s'

interface Partition {
  name: string
  /** Null where it is detached already, true where that was interrupted. */
  pending: boolean | null
}

const partitionsBefore = `
select c.relname as name, i.inhdetachpending as pending
from pg_class c left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = 'signals'::regclass
where c.relkind = 'r' and c.relname ~ '^signals_\\d{4}_\\d{2}$' and c.relname < $1 and pg_table_is_visible(c.oid)
order by c.relname`

/** Drops whole months, the oldest first, without holding up those who record or read; idempotency keys by and by. */
export function postgresRetention(database: PostgresDatabase): RetentionStore {
  async function drop({ name, pending }: Partition): Promise<void> {
    await database.apart(async (client) => {
      await client.query(`set lock_timeout = '${patience}'`)
      // A partition that is dropped as it is makes everybody wait for the longest reader of any month.
      if (pending !== null) {
        await client.query(`alter table signals detach partition ${name} ${pending ? 'finalize' : 'concurrently'}`)
      }
      await client.query(`drop table if exists ${name}`)
    })
  }

  return {
    keptSince: sqlKeptSince(database),
    async removeSome(cutoff) {
      const month = monthStart(cutoff)
      const [, keys = []] = await database.write([keepSince(month), removeKeysStep])
      const rows = await database.query(partitionsBefore, [partitionOf(month)])
      const [oldest, ...others] = rows as unknown as Partition[]
      if (oldest !== undefined) await drop(oldest)
      return others.length > 0 || keys.length === stepSize
    },
  }
}
