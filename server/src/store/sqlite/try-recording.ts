import type { SignalToRecord } from '../../domain/signals/signal.ts'
import type { Clock } from '../../domain/time.ts'
import { openSqlite } from './database.ts'
import { recordBatch } from './signal-batch.ts'

class RolledBack extends Error {}

/** Records signals as the service does, and rolls them back. */
export async function tryRecording(path: string, signals: SignalToRecord[], clock: Clock): Promise<void> {
  const opened = openSqlite(path, () => {})
  const transaction: typeof opened.transaction = (work) =>
    opened.transaction(() => {
      work()
      throw new RolledBack()
    })
  try {
    await recordBatch({ ...opened, transaction }, clock, () => 0)(signals)
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
  } finally {
    opened.close()
  }
}
