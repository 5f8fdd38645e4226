import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { operator } from '../domain/access/audit.ts'
import type { Organisation } from '../domain/access/organisation.ts'
import type { Store } from '../domain/store.ts'
import { archiveTables } from '../store/sql/archive-tables.ts'
import { checkArchiveFile, type TableSummary, writeArchiveFile } from './file.ts'
import { importCheck } from './imported-rows.ts'

/** Called when a task starts; the returned function is called as it advances. */
export type StartProgress = (task: string, total: number, unit: string) => (more: number) => void

export interface WriteOptions {
  /** Overwrite an existing file. */
  force?: boolean
}

export interface WrittenArchive {
  bytes: number
  tables: TableSummary[]
}

/** Writes the whole database to a file while the service keeps running. */
export function backUp(
  store: Store,
  file: string,
  options: WriteOptions,
  startProgress: StartProgress,
): Promise<WrittenArchive> {
  return writeArchive(store, null, file, options, startProgress)
}

/** Writes one organisation to a file that `importOrganisation` reads. The file contains the audit entry of the export. */
export async function exportOrganisation(
  store: Store,
  organisation: Organisation,
  file: string,
  options: WriteOptions,
  startProgress: StartProgress,
): Promise<WrittenArchive> {
  const { id, name } = organisation
  if (!options.force) failIfExists(file)
  await store.audit.record({
    organisationId: id,
    by: operator,
    at: Date.now(),
    action: 'organisation.exported',
    subject: { id, name },
  })
  return writeArchive(store, id, file, options, startProgress)
}

/** Writes and verifies a temporary file and renames it last, so a file of the given name is always complete. */
async function writeArchive(
  store: Store,
  organisationId: number | null,
  file: string,
  { force = false }: WriteOptions,
  startProgress: StartProgress,
): Promise<WrittenArchive> {
  if (!force) failIfExists(file)
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.unfinished`
  try {
    const tables = await store.archive.read(organisationId, async (snapshot) => {
      let total = 0
      for (const table of archiveTables) total += await snapshot.count(table)
      return writeArchiveFile(unfinished, snapshot, store.schemaVersion, startProgress('Writing', total, 'rows'))
    })
    const { size: bytes } = await stat(unfinished)
    const onBytes = startProgress('Verifying', bytes, 'bytes')
    const written = await checkArchiveFile(unfinished, store.schemaVersion, onBytes, ({ lastIds }) =>
      organisationId === null ? () => {} : importCheck(unfinished, { lastIds, allowLocal: true }),
    ).catch((error: Error) => {
      throw new Error(`${file} was not written, because it could not be restored: ${error.message}`)
    })
    if (JSON.stringify(written.tables) !== JSON.stringify(tables)) {
      throw new Error(`${file} differs from what was written. Check the disk and try again.`)
    }
    if (!force) failIfExists(file)
    await rename(unfinished, file)
    await flushFolder(file)
    return { bytes, tables }
  } finally {
    await rm(unfinished, { force: true })
  }
}

function failIfExists(file: string): void {
  if (existsSync(file)) throw new Error(`${file} already exists. Choose another file, or overwrite it with --force.`)
}

/** Makes the rename durable: without this, a power cut could lose the new name. */
async function flushFolder(file: string): Promise<void> {
  const folder = await open(dirname(resolve(file)))
  await folder.sync()
  await folder.close()
}
