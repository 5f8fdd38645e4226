import {
  type ArchiveContents,
  type ArchiveRow,
  type ArchiveStore,
  type ArchiveTable,
  type LastIds,
  type NumberedTable,
  numberedTables,
  type Offsets,
  RowSum,
} from '../../domain/archive/archive.ts'
import { isoTime } from '../../domain/time.ts'
import { movedRow } from './archive-moving.ts'
import { archiveTables } from './archive-tables.ts'
import type { Database, Value } from './database.ts'

/** A connection in the middle of a transaction, which nobody else uses. */
export interface ArchiveConnection {
  rows(sql: string, parameters?: Value[]): Promise<ArchiveRow[]>
  /** The same, so many at a time. */
  portions(sql: string, parameters: Value[], size: number): AsyncIterable<ArchiveRow[]>
  insert(table: ArchiveTable, rows: ArchiveRow[]): Promise<void>
  lastId(table: NumberedTable): Promise<number>
  /** Numbers up to this are given to nobody from now on. */
  skipIds(table: NumberedTable, last: number): Promise<void>
  /** Takes so many numbers behind all that were given, and gives the last one before them. */
  takeIds(table: NumberedTable, count: number): Promise<number>
  /** Nobody adds an organisation until the transaction is over. */
  holdOrganisations(): Promise<void>
}

export interface ArchiveEngine {
  /** Everything that `work` reads is as it was when it began. */
  reading<T>(work: (connection: ArchiveConnection) => Promise<T>): Promise<T>
  /** All of what `work` does, or nothing. */
  writing<T>(work: (connection: ArchiveConnection) => Promise<T>): Promise<T>
}

const portionSize = 1_000
// Up to 25 MB each.
const deliveryPortionSize = 1

export function sqlArchive(database: Database, engine: ArchiveEngine): ArchiveStore {
  async function restore(connection: ArchiveConnection, contents: ArchiveContents): Promise<Offsets> {
    if (!(await isEmpty(connection))) {
      throw new Error(
        'The database has organisations already, and only an empty one can be restored into: name a new one in DATABASE_URL. ' +
          'To add to this one, use promptledger export --org <id> <file> where they come from and promptledger import organisation <file> here',
      )
    }
    await storeRows(connection, contents, noOffsets)
    await connection.rows('update signal_retention set kept_since = ?', [contents.keptSince])
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
      if (contents.lastIds[table] > 0) offsets[table] = await connection.takeIds(table, contents.lastIds[table])
    }
    const alone = await isEmpty(connection)
    await storeRows(connection, contents, offsets)
    if (alone) await connection.rows('update signal_retention set kept_since = ?', [contents.keptSince])
    else await checkKept(connection, contents, organisationId + offsets.organisations)
    return offsets
  }

  async function storeRows(connection: ArchiveConnection, contents: ArchiveContents, offsets: Offsets): Promise<void> {
    const sums = new Map(archiveTables.map(({ name }) => [name, new RowSum()]))
    const moves = Object.values(offsets).some((offset) => offset > 0)
    for await (const { table, rows } of contents.portions) {
      const moved = moves ? rows.map((row) => movedRow(table, row, offsets)) : rows
      if (contents.organisationId !== null) await refuseKnown(database, connection, table, moved)
      await connection.insert(table, moved)
      for (const row of moved) sums.get(table.name)?.add(JSON.stringify(row))
    }
    const owner = contents.organisationId === null ? null : contents.organisationId + offsets.organisations
    for (const table of archiveTables) {
      const found = new RowSum()
      for await (const rows of rowsOf(connection, table, owner)) {
        for (const row of rows) found.add(JSON.stringify(row))
        contents.onCompared(rows.length)
      }
      const given = sums.get(table.name) as RowSum
      if (found.rows !== given.rows || found.checksum !== given.checksum) {
        throw new Error(
          `The database holds something else in ${table.name} than it was given (${found.rows} rows of ${given.rows}): nothing was stored`,
        )
      }
    }
  }

  return {
    read: (organisationId, work) =>
      engine.reading(async (connection) => {
        const [[keptSince]] = (await connection.rows('select kept_since from signal_retention')) as [[number]]
        const lastIds = { ...noOffsets }
        for (const table of numberedTables) lastIds[table] = await connection.lastId(table)
        return work({
          organisationId,
          keptSince,
          lastIds,
          count: ({ name }) => countOf(connection, name, organisationId),
          rows: (table) => rowsOf(connection, table, organisationId),
        })
      }),

    write: (contents) =>
      engine.writing((connection) =>
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
  const sql = `select ${Object.keys(columns).join(', ')} from ${name}${where}`
  return connection.portions(sql, parameters, name === 'deliveries' ? deliveryPortionSize : portionSize)
}

async function countOf(connection: ArchiveConnection, name: string, organisationId: number | null = null) {
  const { where, parameters } = ofOrganisation(name, organisationId)
  const [[count]] = (await connection.rows(`select count(*) from ${name}${where}`, parameters)) as [[number]]
  return count
}

function ofOrganisation(table: string, id: number | null): { where: string; parameters: Value[] } {
  if (id === null) return { where: '', parameters: [] }
  return { where: ` where ${table === 'organisations' ? 'id' : 'organisation_id'} = ?`, parameters: [id] }
}

/** What is known by itself, in whatever organisation, and by what people know it. */
const knownAnywhere: Record<string, { column: string; shown: string; called: string }> = {
  api_keys: { column: 'hash', shown: `name || ' (…' || hint || ')'`, called: 'key' },
  repositories: { column: 'hook_id', shown: 'url', called: 'webhook of repository' },
  prompts: { column: 'public_id', shown: 'public_id', called: 'prompt' },
}

async function refuseKnown(
  database: Database,
  connection: ArchiveConnection,
  { name, columns }: ArchiveTable,
  rows: ArchiveRow[],
): Promise<void> {
  const known = knownAnywhere[name]
  if (known === undefined) return
  const { column, shown, called } = known
  const place = Object.keys(columns).indexOf(column)
  const [found] = await connection.rows(
    `select ${shown}, organisation_id from ${name} where ${database.among(column, 'text')} limit 1`,
    [JSON.stringify(rows.map((row) => row[place]))],
  )
  if (found === undefined) return
  const [text, organisationId] = found
  throw new Error(`The ${called} ${text} is already here, in organisation ${organisationId}: nothing was imported`)
}

/** Empty until the transaction is over, where it is. */
async function isEmpty(connection: ArchiveConnection): Promise<boolean> {
  if ((await countOf(connection, 'organisations')) > 0) return false
  await connection.holdOrganisations()
  return (await countOf(connection, 'organisations')) === 0
}

/** Since when signals are kept is one line for the whole database, by which pages are counted and rows removed. */
async function checkKept(connection: ArchiveConnection, { keptSince }: ArchiveContents, organisationId: number) {
  const sql = `select 1 from signal_hours where organisation_id = ? and hour < ?
    and hour >= (select kept_since from signal_retention) limit 1`
  const [removed] = await connection.rows(sql, [organisationId, keptSince])
  if (removed !== undefined) {
    throw new Error(
      `Where this organisation comes from, signals from before ${isoTime(keptSince)} were removed, and here they are kept for longer, ` +
        'so that its pages could not be counted: import it into a database of its own',
    )
  }
  const kept = 'select kept_since from signal_retention'
  const [[here, hidden]] = (await connection.rows(
    `select (${kept}), count(*) from signals where organisation_id = ? and created_at < (${kept})`,
    [organisationId],
  )) as [[number, number]]
  if (hidden > 0) {
    throw new Error(
      `Signals from before ${isoTime(here)} are not kept here, and this organisation has ${hidden} of them: ` +
        'import it into a database of its own',
    )
  }
}
