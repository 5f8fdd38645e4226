import {
  type ArchiveContents,
  type ArchiveRow,
  type ArchiveStore,
  type ArchiveTable,
  type LastIds,
  type NumberedTable,
  numberedTables,
  type Offsets,
  RowChecksum,
} from '../../domain/archive/archive.ts'
import { isoTime } from '../../domain/time.ts'
import { continueChain } from './archive-audit.ts'
import { renumberedRow } from './archive-renumbering.ts'
import { archiveTables, sourceOf } from './archive-tables.ts'
import type { Database, Value } from './database.ts'
import { queueAllForJudge } from './judge-queue.ts'

/** An exclusive connection inside a transaction. */
export interface ArchiveConnection {
  rows(sql: string, parameters?: Value[]): Promise<ArchiveRow[]>
  /** Like `rows`, but at most `size` rows at a time. */
  batches(sql: string, parameters: Value[], size: number): AsyncIterable<ArchiveRow[]>
  insert(table: ArchiveTable, rows: ArchiveRow[]): Promise<void>
  lastId(table: NumberedTable): Promise<number>
  /** Makes sure that IDs up to `last` are never assigned again. */
  skipIds(table: NumberedTable, last: number): Promise<void>
  /** Reserves `count` IDs above all assigned ones. Returns the last ID before them. */
  reserveIds(table: NumberedTable, count: number): Promise<number>
  /** Blocks new organisations until the transaction ends. */
  lockOrganisations(): Promise<void>
}

export interface ArchiveEngine {
  /** `work` reads the database as of the start. */
  readSnapshot<T>(work: (connection: ArchiveConnection) => Promise<T>): Promise<T>
  /** Commits everything that `work` does, or nothing. */
  writeTransaction<T>(work: (connection: ArchiveConnection) => Promise<T>): Promise<T>
}

const batchSize = 1_000
// A delivery can take up to 25 MB, a pull request 1 MB and a text 256 KiB.
const batchSizes: Record<string, number> = { deliveries: 1, pulls: 16, delivered_texts: 64 }

export function sqlArchive(database: Database, engine: ArchiveEngine): ArchiveStore {
  async function restore(connection: ArchiveConnection, contents: ArchiveContents): Promise<Offsets> {
    if (!(await isEmpty(connection))) {
      throw new Error(
        'The database already contains organisations, and a backup can only be restored into an empty one. Set DATABASE_URL to a ' +
          'new database. To add an organisation to this one, run promptledger export --org <id> <file> on the source and ' +
          'promptledger import organisation <file> here',
      )
    }
    await storeRows(connection, contents, noOffsets)
    await connection.rows('update signal_retention set kept_since = ?', [contents.retainedSince])
    await connection.rows(queueAllForJudge('signal_hours'))
    for (const table of numberedTables) await connection.skipIds(table, contents.lastIds[table])
    return noOffsets
  }

  async function importOrganisation(
    connection: ArchiveConnection,
    contents: ArchiveContents,
    organisationId: number,
  ): Promise<Offsets> {
    const offsets = { ...noOffsets }
    for (const table of numberedTables) {
      if (contents.lastIds[table] > 0) offsets[table] = await connection.reserveIds(table, contents.lastIds[table])
    }
    const isFirst = await isEmpty(connection)
    await storeRows(connection, contents, offsets)
    if (isFirst) await connection.rows('update signal_retention set kept_since = ?', [contents.retainedSince])
    else await checkRetention(connection, contents, organisationId + offsets.organisations)
    const ofOwner = queueAllForJudge('signal_hours', 'organisation_id = ?')
    await connection.rows(ofOwner, [organisationId + offsets.organisations])
    await continueChain(database, connection.rows, organisationId + offsets.organisations, offsets, contents)
    return offsets
  }

  async function storeRows(connection: ArchiveConnection, contents: ArchiveContents, offsets: Offsets): Promise<void> {
    const written = new Map(archiveTables.map(({ name }) => [name, new RowChecksum()]))
    const needsRenumbering = Object.values(offsets).some((offset) => offset > 0)
    for await (const { table, rows } of contents.batches) {
      const renumbered = needsRenumbering ? rows.map((row) => renumberedRow(table, row, offsets)) : rows
      if (contents.organisationId !== null) await rejectExisting(database, connection, table, renumbered)
      await connection.insert(table, renumbered)
      for (const row of renumbered) written.get(table.name)?.add(JSON.stringify(row))
    }
    const owner = contents.organisationId === null ? null : contents.organisationId + offsets.organisations
    for (const table of archiveTables) {
      const stored = new RowChecksum()
      for await (const rows of rowsOf(connection, table, owner)) {
        for (const row of rows) stored.add(JSON.stringify(row))
        contents.onVerified(rows.length)
      }
      const expected = written.get(table.name) as RowChecksum
      if (stored.rows !== expected.rows || stored.checksum !== expected.checksum) {
        throw new Error(
          `The rows read back from ${table.name} differ from the archive (${stored.rows} of ${expected.rows} rows). Nothing was stored`,
        )
      }
    }
  }

  return {
    read: (organisationId, work) =>
      engine.readSnapshot(async (connection) => {
        const [[retainedSince]] = (await connection.rows('select kept_since from signal_retention')) as [[number]]
        const lastIds = { ...noOffsets }
        for (const table of numberedTables) lastIds[table] = await connection.lastId(table)
        return work({
          organisationId,
          retainedSince,
          lastIds,
          count: ({ name }) => countOf(connection, name, organisationId),
          rows: (table) => rowsOf(connection, table, organisationId),
        })
      }),

    write: (contents) =>
      engine.writeTransaction((connection) =>
        contents.organisationId === null
          ? restore(connection, contents)
          : importOrganisation(connection, contents, contents.organisationId),
      ),
  }
}

const noOffsets = Object.fromEntries(numberedTables.map((table) => [table, 0])) as LastIds & Offsets

function rowsOf(
  connection: ArchiveConnection,
  { name, columns }: ArchiveTable,
  organisationId: number | null,
): AsyncIterable<ArchiveRow[]> {
  const { where, parameters } = ofOrganisation(name, organisationId)
  const sql = `select ${Object.keys(columns).join(', ')} from ${sourceOf(name)}${where}`
  return connection.batches(sql, parameters, batchSizes[name] ?? batchSize)
}

async function countOf(connection: ArchiveConnection, name: string, organisationId: number | null = null) {
  const { where, parameters } = ofOrganisation(name, organisationId)
  const [[count]] = (await connection.rows(`select count(*) from ${sourceOf(name)}${where}`, parameters)) as [[number]]
  return count
}

function ofOrganisation(table: string, id: number | null): { where: string; parameters: Value[] } {
  if (id === null) return { where: '', parameters: [] }
  if (table === 'signals') return { where: ` where ${signalsOf}`, parameters: [id, id] }
  return { where: ` where ${table === 'organisations' ? 'id' : 'organisation_id'} = ?`, parameters: [id] }
}

// On PostgreSQL, no index of signals starts with the organisation.
const signalsOf = 'organisation_id = ? and prompt_id in (select id from prompts where organisation_id = ?)'

/** Columns that must be unique across organisations, and how to show a row to the operator. */
const keyLabel = `name || ' (…' || hint || ')'`
const globallyUnique: Record<string, { column: string; label: string; noun: string }[]> = {
  api_keys: [
    { column: 'hash', label: keyLabel, noun: 'key' },
    { column: 'signing_id', label: keyLabel, noun: 'signing key' },
  ],
  repositories: [{ column: 'hook_id', label: 'url', noun: 'webhook of repository' }],
  prompts: [{ column: 'public_id', label: 'public_id', noun: 'prompt' }],
  shares: [{ column: 'token_hash', label: `'…' || hint`, noun: 'share link' }],
  invitations: [{ column: 'token_hash', label: `'…' || hint`, noun: 'invitation' }],
}

async function rejectExisting(
  database: Database,
  connection: ArchiveConnection,
  { name, columns }: ArchiveTable,
  rows: ArchiveRow[],
): Promise<void> {
  for (const { column, label, noun } of globallyUnique[name] ?? []) {
    const index = Object.keys(columns).indexOf(column)
    const [existing] = await connection.rows(
      `select ${label}, organisation_id from ${name} where ${database.inJsonArray(column, 'text')} limit 1`,
      [JSON.stringify(rows.map((row) => row[index]))],
    )
    if (existing === undefined) continue
    const [text, organisationId] = existing
    throw new Error(`The ${noun} ${text} already exists here, in organisation ${organisationId}. Nothing was imported`)
  }
}

/** If the database is empty, it stays so for other processes until the transaction ends. */
async function isEmpty(connection: ArchiveConnection): Promise<boolean> {
  if ((await countOf(connection, 'organisations')) > 0) return false
  await connection.lockOrganisations()
  return (await countOf(connection, 'organisations')) === 0
}

/** Retention applies to the whole database: page counts and removal rely on it. An organisation must therefore match it. */
async function checkRetention(
  connection: ArchiveConnection,
  { retainedSince }: ArchiveContents,
  organisationId: number,
): Promise<void> {
  const [removed] = await connection.rows(
    `select 1 from signal_hours where organisation_id = ? and hour < ?
     and hour >= (select kept_since from signal_retention) limit 1`,
    [organisationId, retainedSince],
  )
  if (removed !== undefined) {
    throw new Error(
      `The source has removed this organisation's signals from before ${isoTime(retainedSince)}, but this database keeps signals ` +
        'for longer, so page counts would be wrong. Import it into a database of its own',
    )
  }
  const cutoff = 'select kept_since from signal_retention'
  const [[retainedHere, expired]] = (await connection.rows(
    `select (${cutoff}), count(*) from signals where ${signalsOf} and created_at < (${cutoff})`,
    [organisationId, organisationId],
  )) as [[number, number]]
  if (expired > 0) {
    throw new Error(
      `This database does not keep signals from before ${isoTime(retainedHere)}, and this organisation has ${expired} of them. ` +
        'Import it into a database of its own',
    )
  }
}
