import type { Actor, AuditAction, AuditDetails, NewAuditEntry } from '../../domain/access/audit.ts'
import {
  type ChainHead,
  type ChainLink,
  type ChainState,
  emptyChain,
  findBreak,
  linkHash,
  type StoredLink,
} from '../../domain/access/audit-chain.ts'
import type { Instant } from '../../domain/time.ts'
import {
  type ColumnTypes,
  type Database,
  firstOrNull,
  type Row,
  requireRow,
  type Statement,
  statement,
  type Value,
} from './database.ts'

export const linkColumns = 'organisation_id, seq, at, key_id, key_name, action, subject_id, subject_name, details, hash'
const batchSize = 1_000

/**
 * The statement that adds an entry to the audit log, in the transaction of the change that it records.
 *
 * It locks the head of the organisation's chain until the commit, so that the entries of all processes form one chain. Put it
 * after every statement that locks other rows: two transactions that each held a row that the other needs would deadlock.
 */
export function auditEntry(entry: NewAuditEntry): Statement {
  return {
    ...lockHead(entry.organisationId, entry.by),
    andThen: (rows) => {
      const { entries, hash, key_name: keyName } = requireRow(rows)
      return appendLink({ entries: entries as number, hash: hash as string }, entry, keyName as string | null)
    },
  }
}

/** The entry about a prompt or another resource with a public ID and a name. */
export function auditOf(
  { organisationId, publicId: id, name }: { organisationId: number; publicId: string; name: string },
  action: AuditAction,
  at: Instant,
  by: Actor,
  details?: AuditDetails,
): Statement {
  return auditEntry({ organisationId, by, at, action, subject: { id, name }, ...(details && { details }) })
}

/** Locks the end of the chain until the transaction ends, and returns it with the name of the acting key. */
export function lockHead(organisationId: number, by: Actor): Statement {
  return statement(
    `insert into audit_heads (organisation_id, entries, hash) values (?, 0, '${emptyChain.hash}')
     on conflict (organisation_id) do update set entries = audit_heads.entries
     returning entries, hash, (select name from api_keys where id = ?) as key_name`,
    [organisationId, by?.keyId ?? null],
  )
}

/** Adds an entry after `head`, which must be locked. */
export function appendLink(head: ChainHead, entry: NewAuditEntry, keyName: string | null): Statement[] {
  const { organisationId, by, at, action, subject, details } = entry
  const keyId = by?.keyId ?? null
  const { id, name } = subject ?? { id: keyId as number, name: keyName as string }
  const link: ChainLink = {
    organisationId,
    seq: head.entries + 1,
    at,
    keyId,
    keyName,
    action,
    subjectId: String(id),
    // As the engines store it, so that the hash still matches the stored text.
    subjectName: name.toWellFormed(),
    details: details === undefined ? null : JSON.stringify(details),
  }
  const hash = linkHash(head.hash, link)
  return [
    {
      ...statement(`insert into audit (${linkColumns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
        organisationId,
        link.seq,
        at,
        keyId,
        keyName,
        action,
        link.subjectId,
        link.subjectName,
        link.details,
        hash,
      ]),
      atEnd: true,
    },
    { ...setHead(organisationId, { entries: link.seq, hash }), atEnd: true },
  ]
}

export function setHead(organisationId: number, { entries, hash }: ChainHead): Statement {
  return statement('update audit_heads set entries = ?, hash = ? where organisation_id = ?', [
    entries,
    hash,
    organisationId,
  ])
}

const hashColumns: ColumnTypes = { organisation_id: 'bigint', id: 'bigint', seq: 'bigint', hash: 'text' }

/** Sets the place and hash of entries, by the ID of their row. */
export function setHashes(
  database: Pick<Database, 'jsonRecords'>,
  organisationId: number,
  entries: { id: number; seq: number; hash: string }[],
): Statement {
  // The organisation comes from the records, so that SQLite looks up each entry instead of comparing all with all.
  return statement(
    `update audit set seq = records.seq, hash = records.hash from ${database.jsonRecords(hashColumns)}
     where audit.organisation_id = records.organisation_id and audit.id = records.id`,
    [JSON.stringify(entries.map((entry) => ({ organisation_id: organisationId, ...entry })))],
  )
}

type Query = (sql: string, parameters: Value[]) => Promise<Row[]>

/** Compares every entry of an organisation with its hash. Entries that are added meanwhile are left out. */
export async function verifyChain(query: Query, organisationId: number, known?: ChainHead): Promise<ChainState> {
  const heads = await query('select entries, hash from audit_heads where organisation_id = ?', [organisationId])
  const head = firstOrNull(heads, toHead) ?? emptyChain
  const [after] = await query(
    `select (select count(*) from audit where organisation_id = ? and seq is null) as unchained,
       (select min(seq) from audit where organisation_id = ?
          and seq > coalesce((select entries from audit_heads where organisation_id = ?), 0)) as seq`,
    [organisationId, organisationId, organisationId],
  )
  const brokenAt =
    (await findBreak(head, readChain(query, organisationId, head), known)) ??
    (after?.seq == null ? null : { seq: after.seq as number, problem: 'is not counted by the head of the chain' })
  return { ...head, brokenAt, unchained: after?.unchained as number }
}

/** Reads the chain up to its head, in batches. */
async function* readChain(query: Query, organisationId: number, head: ChainHead): AsyncGenerator<StoredLink[]> {
  let last = 0
  for (;;) {
    const rows = await query(
      `select ${linkColumns} from audit where organisation_id = ? and seq > ? and seq <= ? order by seq limit ${batchSize}`,
      [organisationId, last, head.entries],
    )
    const links = rows.map(toLink)
    if (links.length > 0) yield links
    if (links.length < batchSize) return
    last = (links.at(-1) as StoredLink).seq
  }
}

export function toHead(row: Row): ChainHead {
  return { entries: row.entries as number, hash: row.hash as string }
}

export function toLink(row: Row): StoredLink {
  return {
    organisationId: row.organisation_id as number,
    seq: row.seq as number,
    at: row.at as number,
    keyId: row.key_id as number | null,
    keyName: row.key_name as string | null,
    action: row.action as string,
    subjectId: row.subject_id as string,
    subjectName: row.subject_name as string,
    details: row.details as string | null,
    hash: row.hash as string,
  }
}
