import { operator } from '../../domain/access/audit.ts'
import { type ChainHead, linkHash } from '../../domain/access/audit-chain.ts'
import { hour, type Instant } from '../../domain/time.ts'
import { auditEntry, linkColumns, lockHead, setHashes, setHead, toHead, toLink } from './audit-chain.ts'
import { type Database, type Row, requireRow, type Statement, statement } from './database.ts'

const batchSize = 1_000

/**
 * Adds the entries of earlier versions to the chains of their organisations, then an entry that says how many there were. Runs
 * when a process starts, so that it also covers entries that other processes of the earlier version write during an update.
 */
export async function chainEarlierEntries(database: Database, now: Instant): Promise<void> {
  const organisations = await database.rows(
    'select id, name from organisations where id in (select organisation_id from audit where seq is null) order by id',
  )
  for (const { id, name } of organisations) {
    const subject = { id: id as number, name: name as string }
    let entries = 0
    let chained: number
    do {
      chained = await chainNextBatch(database, subject.id, now)
      entries += chained
    } while (chained === batchSize)
    if (entries === 0) continue
    await database.write([
      auditEntry({
        organisationId: subject.id,
        by: operator,
        at: now,
        action: 'audit.chained',
        subject,
        details: { entries },
      }),
    ])
  }
}

/** Returns how many entries were chained. */
async function chainNextBatch(database: Database, organisationId: number, now: Instant): Promise<number> {
  let count = 0
  const chain = (head: ChainHead, rows: Row[]): Statement[] => {
    count = rows.length
    let { entries, hash } = head
    const hashes = rows.map((row) => {
      hash = linkHash(hash, { ...toLink(row), seq: ++entries })
      return { id: row.id as number, seq: entries, hash }
    })
    return [setHashes(database, organisationId, hashes), setHead(organisationId, { entries, hash })]
  }
  await database.write([
    {
      ...lockHead(organisationId, operator),
      andThen: (heads) => [
        {
          // The earlier version updates the entry of an erasure until the erasure ends, which would break the chain.
          ...statement(
            `select id, ${linkColumns} from audit
             where organisation_id = ? and seq is null and not (action = 'signals.erased' and at > ?)
             order by at, id limit ${batchSize}`,
            [organisationId, now - hour],
          ),
          andThen: (rows) => chain(toHead(requireRow(heads)), rows),
        },
      ],
    },
  ])
  return count
}
