import { constants, existsSync, statSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Row } from '../store/sql/database.ts'
import type { Reading } from './database.ts'
import { type Finding, looked, ok, reasonOf, warning, wrong } from './finding.ts'
import { roomIn, sizeText } from './machine.ts'

// Sixteen times what is written back by itself.
const muchLog = 256 * 1024 * 1024

export async function readSqlite(path: string): Promise<Reading> {
  const file = resolve(path)
  if (!existsSync(file))
    throw new Error(`there is no file ${file}; every start of the service makes one that is missing`)
  const connection = await connect(file)
  const rows = async (sql: string) => connection.prepare(sql).all() as Row[]

  return {
    engine: 'sqlite',
    rows,
    async snapshot(work) {
      connection.exec('begin')
      try {
        return await work()
      } finally {
        connection.exec('rollback')
      }
    },
    monthOf: (column) => `unixepoch(${column} / 1000, 'unixepoch', 'start of month') * 1000`,
    findings: () =>
      Promise.all([
        looked('database', () => intact(file, rows)),
        looked('database file', () => writable(file)),
        looked('database log', () => inLog(file, rows)),
        looked('room for the database', () => roomIn('room for the database', dirname(file))),
      ]),
    async close() {
      connection.close()
    },
  }
}

async function connect(file: string): Promise<DatabaseSync> {
  let connection: DatabaseSync | undefined
  try {
    connection = new DatabaseSync(file, { readOnly: true })
    connection.exec('pragma busy_timeout = 5000')
    // Opening alone reads nothing.
    connection.prepare('select count(*) from sqlite_schema').get()
    return connection
  } catch (error) {
    connection?.close()
    // In a folder that cannot be written it cannot even be read, which SQLite does not put like that.
    const { state, found } = await writable(file)
    throw new Error(state === 'wrong' ? found : `${file}: ${reasonOf(error)}`)
  }
}

async function intact(file: string, rows: Reading['rows']): Promise<Finding> {
  const [version] = await rows('select sqlite_version() as version')
  // Where it is damaged badly, even this fails.
  const check = rows('pragma quick_check(3)').catch((error) => [{ found: reasonOf(error) }])
  const found = (await check).map((row) => String(Object.values(row)[0]))
  if (found.length === 1 && found[0] === 'ok') {
    return ok('database', `SQLite ${version?.version}, ${file}, ${sizeText(statSync(file).size)}, intact`)
  }
  const todo = 'Stop the service, keep a copy of the file, and restore the newest backup that is intact'
  return wrong('database', `${file} is damaged: ${found.join('; ').replaceAll(/\p{Cc}+/gu, ' ')}`, todo)
}

async function writable(file: string): Promise<Finding> {
  const needed = [file, `${file}-wal`, `${file}-shm`].filter((path) => path === file || existsSync(path))
  for (const path of [...needed, dirname(file)]) {
    try {
      await access(path, constants.W_OK)
    } catch (error) {
      const todo = 'Give it to the user that runs the service, or mount its file system for writing'
      return wrong('database file', `${path} cannot be written: ${reasonOf(error)}`, todo)
    }
  }
  return ok('database file', 'the file and its folder can be written')
}

async function inLog(file: string, rows: Reading['rows']): Promise<Finding> {
  const [row] = await rows('pragma journal_mode')
  const mode = row?.journal_mode
  if (mode !== 'wal') {
    const todo = 'Restart the service, which switches it back; something else has opened the file meanwhile'
    return warning('database log', `the journal mode is ${mode}, so that reading and writing wait for each other`, todo)
  }
  const size = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (size > muchLog) {
    const todo = 'End whatever has been reading the file for long (a backup, a shell); the log then shrinks by itself'
    return warning('database log', `the write-ahead log has grown to ${sizeText(size)}`, todo)
  }
  return ok('database log', `write-ahead, ${sizeText(size)}`)
}
