import type { SignalValue } from '../../domain/signals/signal.ts'
import type { Vote, VoteRead, VoteStore } from '../../domain/signals/votes.ts'
import type { Instant } from '../../domain/time.ts'
import { type Database, type Row, type Statement, statement } from './database.ts'
import { likePattern, mayMatch } from './erasure.ts'

const beforeAll = { at: -1, id: 0 }
const afterAll = { at: Number.MAX_SAFE_INTEGER, id: 0 }

/** Reads single signals in the order of an index. */
export function sqlVotes(database: Database, retainedSince: () => Promise<Instant>): VoteStore {
  return {
    async votes({ organisationId, id }, read, member) {
      const { limit, until, version } = read
      const from = Math.max(read.from, await retainedSince())
      if (limit === 0 || until <= from) return { votes: [], examined: 0, last: null }
      const { sql, parameters } = votesQuery(organisationId, id, { ...read, from }, member)
      const rows = await database.rowsPlanned(sql, parameters)
      const last = rows.length < limit ? undefined : rows.at(-1)
      return {
        votes: (version === null ? rows.filter((row) => row.has_version === 0) : rows).map(toVote),
        examined: rows.length,
        last: last === undefined ? null : { at: last.created_at as number, id: last.id as number },
      }
    },
  }
}

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
  const metadata = member === undefined ? 'null' : `case when ${mayMatch} then metadata end`
  return statement(
    `select id, created_at, value, voter, case when version is null then 0 else 1 end as has_version, ${metadata} as metadata
     from signals where organisation_id = ? and prompt_id = ? ${named ? 'and version = ?' : ''}
       and created_at >= ? and created_at < ? and created_at ${isOldest ? '>=' : '<='} ?
       and (created_at, id) ${isOldest ? '>' : '<'} (?, ?)
     order by created_at ${direction}, id ${direction} limit ?`,
    [
      ...(member === undefined ? [] : [likePattern(JSON.stringify(member).slice(1, -1))]),
      organisationId,
      promptId,
      ...(named ? [version] : []),
      from,
      until,
      cursor.at,
      cursor.at,
      cursor.id,
      limit,
    ],
  )
}

function toVote(row: Row): Vote {
  return {
    id: row.id as number,
    at: row.created_at as number,
    value: row.value as SignalValue,
    voter: row.voter as string | null,
    metadata: row.metadata as string | null,
  }
}
