import type pg from 'pg'
import type { SignalToRecord } from '../../domain/signals/signal.ts'
import type { Clock } from '../../domain/time.ts'
import { openPostgres } from './database.ts'
import { recordFunction, trialSucceeded } from './distributed-record.ts'
import { recordBatch } from './signal-batch.ts'
import { signalFence } from './signal-fence.ts'

/** Records signals of organisations on one server as the service does, with the same statement, and stores nothing. */
export async function tryRecording(url: string, signals: SignalToRecord[], clock: Clock): Promise<void> {
  const opened = await openPostgres(
    url,
    2,
    () => {},
    () => {},
  )
  const rolledBack = (sql: string, values: unknown[]) =>
    opened.onOwnConnection(async (client) => {
      await client.query('begin')
      // The service has a fence of its own.
      const { rows } = await client.query(sql, values)
      await client.query('rollback')
      return rows
    })
  const onWorker = (sql: string, values: unknown[]) => opened.query(sql, values.with(recordFunction.isTrial - 1, true))
  const database = { ...opened, attempt: opened.isDistributed ? onWorker : rolledBack }
  const fence = signalFence(opened)
  const recent = { writer: 0, recorded() {}, close: async () => {} }
  try {
    await recordBatch(
      database,
      async () => {},
      recent,
      fence,
      clock,
      () => 0,
    )(signals)
  } catch (error) {
    if ((error as pg.DatabaseError).code !== trialSucceeded) throw error
  } finally {
    await fence.close()
    await opened.close()
  }
}
