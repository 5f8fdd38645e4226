import { closeSync, existsSync, openSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from './database.ts'

/**
 * Makes sure that one service uses a database file. Commands and the worker process run beside it and take no lock.
 *
 * SQLite locks an empty file next to the database for as long as its transaction is open. The operating system releases the lock with
 * the process, however that ends, and knows it by the file, so neither a killed process nor a process ID that is used again in
 * another container can raise a false alarm.
 */
export function lockForService(path: string): () => void {
  // The same file may be reached by several paths.
  const lockPath = `${realpathSync(path)}-service`
  // Only its owner may lock it: another user could keep the service from starting. A file that exists is not opened here, because
  // closing it would release a lock that this process has.
  if (!existsSync(lockPath)) closeSync(openSync(lockPath, 'a', 0o600))
  const connection = new DatabaseSync(lockPath)
  try {
    connection.exec('begin exclusive')
  } catch (error) {
    connection.close()
    if (!isBusy(error)) throw error
    throw new Error(
      `Another Promptledger service is using the database file ${path}. Stop it first. To run several, use PostgreSQL.`,
    )
  }
  return () => connection.close()
}
