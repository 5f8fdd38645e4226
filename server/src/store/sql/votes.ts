import type { Vote, VoteRead, VoteSlice, VoteStore } from '../../domain/signals/votes.ts'
import type { Instant } from '../../domain/time.ts'
import { type Database, type Row, type Statement, statement } from './database.ts'
import { likePattern, mayMatch } from './erasure.ts'

const beforeAll = { at: -1, id: 0 }
const afterAll = { at: Number.MAX_SAFE_INTEGER - 1, id: 0 }
// Neither JSON text nor a voter contains it.
const separator = '\u001e'

/** Reads single signals in the order of an index. */
export function sqlVotes(database: Database, retainedSince: () => Promise<Instant>): VoteStore {
  return {
    async votes({ organisationId, id }, read, member) {
      const { limit, until, version } = read
      const from = Math.max(read.from, await retainedSince())
      if (limit === 0 || until <= from) return { votes: [], examined: 0, last: null }
      const { sql, parameters } = votesQuery(organisationId, id, { ...read, from }, member)
      const [row] = await database.rowsPlanned(sql, parameters)
      const { votes, last } = unpack(row as Row, version === null)
      const examined = row?.examined as number
      return { votes, examined, last: examined < limit ? null : last }
    },

    async hasVoters(organisationId) {
      const sql = 'select 1 from signals where organisation_id = ? and voter is not null limit 1'
      return (await database.rows(sql, [organisationId])).length > 0
    },
  }
}

/** Returns one row of packed columns: a row for each signal would take both drivers five times as long. */
export function votesQuery(
  organisationId: number,
  promptId: number,
  { version, order, after, limit, from, until }: VoteRead,
  member?: string,
): Statement {
  const isOldest = order === 'oldest'
  const direction = isOldest ? '' : 'desc'
  const cursor = after ?? (isOldest ? beforeAll : afterAll)
  const named = typeof version === 'string'
  // Metadata without the member is not worth transferring.
  const metadata = member === undefined ? '' : `, case when ${mayMatch} then metadata end as metadata`
  const packed = (column: string) => `string_agg(coalesce(${column}, ''), '${separator}')`
  return statement(
    `select count(*) as examined, count(voter) as voted, ${packed('voter')} as voters,
       string_agg(id || ',' || created_at || ',' || is_positive || ',' || has_version, ',') as votes
       ${member === undefined ? '' : `, ${packed('metadata')} as metadata`}
     from (
       select id, created_at, voter, case when value = 'positive' then 1 else 0 end as is_positive,
         case when version is null then 0 else 1 end as has_version ${metadata}
       from signals where organisation_id = ? and prompt_id = ? ${named ? 'and version = ?' : ''}
         and created_at >= ? and created_at < ? and (created_at, id) ${isOldest ? '>' : '<'} (?, ?)
       order by created_at ${direction}, id ${direction} limit ?) as read`,
    [
      ...(member === undefined ? [] : [likePattern(JSON.stringify(member).slice(1, -1))]),
      organisationId,
      promptId,
      ...(named ? [version] : []),
      // One bound on each side: SQLite searches the index by the first that it finds, and would start from the end again.
      isOldest ? Math.max(from, cursor.at) : from,
      isOldest ? until : Math.min(until, cursor.at + 1),
      cursor.at,
      cursor.id,
      limit,
    ],
  )
}

function unpack(row: Row, unversionedOnly: boolean): Pick<VoteSlice, 'votes' | 'last'> {
  const numbers: number[] = JSON.parse(`[${row.votes ?? ''}]`)
  const voters = row.voted === 0 ? [] : (row.voters as string).split(separator)
  const metadata = typeof row.metadata === 'string' ? row.metadata.split(separator) : []
  const votes: Vote[] = []
  for (let i = 0; 4 * i < numbers.length; i++) {
    if (unversionedOnly && numbers[4 * i + 3] === 1) continue
    votes.push({
      id: numbers[4 * i] as number,
      at: numbers[4 * i + 1] as number,
      value: numbers[4 * i + 2] === 1 ? 'positive' : 'negative',
      voter: voters[i] || null,
      metadata: metadata[i] || null,
    })
  }
  const [id, at] = numbers.slice(-4)
  return { votes, last: id === undefined || at === undefined ? null : { id, at } }
}
