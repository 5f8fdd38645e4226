import { operator } from '../../domain/access/audit.ts'
import { type ChainHead, emptyChain, findBreak, linkHash, type StoredLink } from '../../domain/access/audit-chain.ts'
import {
  type ArchiveContents,
  type ArchiveRow,
  type ArchiveTable,
  numberedTables,
  type Offsets,
} from '../../domain/archive/archive.ts'
import { renumberedRow } from './archive-renumbering.ts'
import { archiveTables } from './archive-tables.ts'
import { appendLink, setHashes, toLink } from './audit-chain.ts'
import type { Database, Row, Value } from './database.ts'

const table = archiveTables.find(({ name }) => name === 'audit') as ArchiveTable
const columns = Object.keys(table.columns)
const batchSize = 1_000

/** Runs a statement in the transaction of the import. */
type Query = (sql: string, parameters: Value[]) => Promise<ArchiveRow[]>

/**
 * Continues the chain of an organisation that was just imported, and rejects one that is broken unless the operator accepts it.
 * The IDs in its entries were shifted, so their hashes are computed again; an entry that did not match its hash in the archive
 * does not match it here either. An entry says that the organisation was imported, which hash its chain ended with, and where
 * it was broken.
 */
export async function continueChain(
  database: Database,
  query: Query,
  organisationId: number,
  offsets: Offsets,
  { at, acceptBrokenAudit }: Pick<ArchiveContents, 'at' | 'acceptBrokenAudit'>,
): Promise<void> {
  const source = await readHead(query, organisationId)
  const brokenAt = await findBreak(source, originalLinks(query, organisationId, offsets))
  if (brokenAt !== null && !acceptBrokenAudit) {
    const { seq, problem } = brokenAt
    throw new Error(
      `The audit log in the file was changed: entry ${seq} ${problem}. Nothing was imported. If the log was already like this ` +
        'where it was exported, add --accept-broken-audit',
    )
  }
  const isShifted = Object.values(offsets).some((offset) => offset > 0)
  const head = isShifted ? await rehash(database, query, organisationId, offsets, source) : source
  const [[name]] = (await query('select name from organisations where id = ?', [organisationId])) as [[string]]
  const entry = {
    organisationId,
    by: operator,
    at,
    action: 'organisation.imported',
    subject: { id: organisationId, name },
    details: {
      entries: source.entries,
      source_hash: source.hash,
      ...(brokenAt && { broken_at: brokenAt.seq }),
    },
  } as const
  for (const { sql, parameters } of appendLink(head, entry, null)) await query(sql, parameters)
}

/** Returns the new head. */
async function rehash(
  database: Database,
  query: Query,
  organisationId: number,
  offsets: Offsets,
  head: ChainHead,
): Promise<ChainHead> {
  const back = backwards(offsets)
  let [oldHash, newHash] = [emptyChain.hash, emptyChain.hash]
  for await (const rows of entriesInOrder(query, organisationId)) {
    const hashes = rows.map((row) => {
      const [old, shifted] = [linkOf(renumberedRow(table, row, back)), linkOf(row)]
      newHash = old.hash === linkHash(oldHash, old) ? linkHash(newHash, shifted) : old.hash
      oldHash = old.hash
      return { id: row[columns.indexOf('id')] as number, seq: old.seq, hash: newHash }
    })
    const { sql, parameters } = setHashes(database, organisationId, hashes)
    await query(sql, parameters)
  }
  return { entries: head.entries, hash: head.hash === oldHash ? newHash : head.hash }
}

/** The entries as they were in the archive. */
async function* originalLinks(query: Query, organisationId: number, offsets: Offsets): AsyncGenerator<StoredLink[]> {
  const back = backwards(offsets)
  for await (const rows of entriesInOrder(query, organisationId)) {
    yield rows.map((row) => linkOf(renumberedRow(table, row, back)))
  }
}

function backwards(offsets: Offsets): Offsets {
  return Object.fromEntries(numberedTables.map((name) => [name, -offsets[name]])) as Offsets
}

async function* entriesInOrder(query: Query, organisationId: number): AsyncGenerator<ArchiveRow[]> {
  let last = 0
  for (;;) {
    const rows = await query(
      `select ${columns.join(', ')} from audit where organisation_id = ? and seq > ? order by seq limit ${batchSize}`,
      [organisationId, last],
    )
    if (rows.length > 0) yield rows
    if (rows.length < batchSize) return
    last = rows.at(-1)?.[columns.indexOf('seq')] as number
  }
}

function linkOf(row: ArchiveRow): StoredLink {
  return toLink(Object.fromEntries(columns.map((name, i) => [name, row[i]])) as Row)
}

/** Creates the head of an organisation without entries. */
async function readHead(query: Query, organisationId: number): Promise<ChainHead> {
  const sql = 'select entries, hash from audit_heads where organisation_id = ?'
  const [row] = (await query(sql, [organisationId])) as [number, string][]
  if (row !== undefined) return { entries: row[0], hash: row[1] }
  const { entries, hash } = emptyChain
  const insert = 'insert into audit_heads (organisation_id, entries, hash) values (?, ?, ?)'
  await query(insert, [organisationId, entries, hash])
  return emptyChain
}
