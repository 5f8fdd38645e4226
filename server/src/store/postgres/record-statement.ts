import type { Row } from '../sql/database.ts'
import type { ChangedRows } from '../sql/signal-changes.ts'
import { reserveUsage } from './monthly-limit.ts'
import {
  events,
  inputOf,
  insertInto,
  keys,
  parametersOf,
  plainSignals,
  type RowSet,
  removed,
  revisions,
  sameIn,
  signalKey,
  signals,
  sums,
  updateVote,
  usage,
  voteKey,
  votes,
} from './record-rows.ts'
import { fenceSql } from './signal-fence.ts'

/** Which parts of the statement a batch needs. Most need few, and each costs time even without rows. */
interface Parts {
  /** Signals that count towards a limit. */
  limited: boolean
  /** Organisations with a limit may have recorded without one this month. */
  addsRecent: boolean
  /** Signals that count without a limit. */
  unlimited: boolean
  /** Organisations whose changes no limit can prevent. */
  free: boolean
  /** Signals with more than a value and metadata. */
  details: boolean
  /** Votes that were replaced or withdrawn, so their signals are removed. */
  removed: boolean
  /** Sums of days that are over. */
  revised: boolean
  votes: boolean
  /** Votes that exist. */
  replaced: boolean
  keys: boolean
  /** Organisations whose signals are sent. */
  events: boolean
}

function partsOf(rows: ChangedRows, addsRecent: boolean): Parts {
  return {
    addsRecent,
    limited: rows.usage.some(({ limit, signals }) => limit !== null && signals > 0),
    unlimited: rows.usage.some(({ limit, signals }) => limit === null && signals > 0),
    free: rows.usage.some(({ limit, signals }) => limit === null || signals === 0),
    details: rows.inserted.some(({ signal }) => signal.details != null),
    removed: rows.removed.length > 0,
    revised: rows.revised.length > 0,
    votes: rows.votes.length > 0,
    replaced: rows.votes.some(({ expected }) => expected !== null),
    keys: rows.keys.length > 0,
    events: rows.events.length > 0,
  }
}

function setsOf(parts: Parts): RowSet[] {
  return [
    usage,
    parts.details ? signals : plainSignals,
    sums,
    ...(parts.removed ? [removed] : []),
    ...(parts.revised ? [revisions] : []),
    ...(parts.votes ? [votes] : []),
    ...(parts.keys ? [keys] : []),
    ...(parts.events ? [events] : []),
  ]
}

/**
 * Stores the changes of a batch in a single statement, so in one round trip and one transaction. Those of an organisation are stored all
 * together or, if they exceed its monthly limit or a vote is not as expected, not at all: the result has the organisations that are
 * stored. The caller then finds out why, and sends what is left. The statement fails if an idempotency key, or a first vote on its
 * subject, exists, or if the fence does not: nothing is stored then.
 *
 * Everything is counted before it is sent, so that PostgreSQL only adds rows to tables: grouping and joining took a third of its time.
 */
function recordSql(parts: Parts): string {
  const sets = setsOf(parts)
  const from = (set: RowSet) => inputOf(sets, set)
  const isConditional = parts.limited || parts.replaced
  const isFresh = parts.replaced ? 'organisation_id not in (select organisation_id from stale)' : 'true'
  const granted = parts.free ? 'granted' : 'reserved'
  const ifGranted = isConditional ? `organisation_id in (select organisation_id from ${granted})` : 'true'
  const insert = (table: string, set: RowSet, condition = 'true') =>
    insertInto(table, set, (expressions) => {
      const inOrder = set.order === undefined ? '' : `order by ${set.order}`
      return `select ${expressions.replaceAll('$.', '')} from ${from(set)} where ${ifGranted} and ${condition} ${inOrder}`
    })
  const ctes = {
    // Locks the votes first, as everyone does, and in the same order.
    stale: `materialized (
      select i.organisation_id from (
        select * from ${from(votes)} where expected is not null order by ${votes.order}
      ) i left join lateral (
        select vote_id from signal_subjects s where ${sameIn('s', 'i', voteKey)} and s.vote_id = i.expected for update
      ) found on true where found.vote_id is null)`,
    reserved: `(${reserveUsage(from(usage), isFresh, parts.addsRecent)})`,
    granted: `(
      select organisation_id, null::bigint as used from ${from(usage)}
      where (month_limit is null or signals = 0) and ${isFresh}
      ${parts.limited ? 'union all select organisation_id, used from reserved' : ''})`,
    counted: `(${insert('recent_usage', usage, 'month_limit is null and signals > 0')})`,
    removed: `(
      delete from signals s using ${from(removed).replace('as input', 'as i')}
      where ${sameIn('s', 'i', signalKey)} and ${ifGranted.replace('organisation_id', 'i.organisation_id')} returning s.id)`,
    // A replaced vote can have the key of the signal that is removed.
    stored: `(${insert('signals', parts.details ? signals : plainSignals, parts.removed ? '(select count(*) from removed) is not null' : 'true')})`,
    added: `(${insert('recent_sums', sums)}${parts.revised ? ' returning 1' : ''})`,
    // After the sums, as in deletions and imports. PostgreSQL chooses the order of parts that do not refer to each other.
    revised: `(${insert('hour_revisions', revisions, '(select count(*) from added) is not null')})`,
    voted: `(${insert('signal_subjects', votes, parts.replaced ? 'expected is null' : 'true')})`,
    replaced: `(
      update signal_subjects s ${updateVote('i')} from ${from(votes).replace('as input', 'as i')}
      where ${sameIn('s', 'i', voteKey)} and i.expected is not null and ${ifGranted.replace('organisation_id', 'i.organisation_id')})`,
    keyed: `(${insert('idempotency_keys', keys)})`,
    announced: `(${insert('signal_events', events)})`,
  }
  const used: Record<keyof typeof ctes, boolean> = {
    stale: parts.replaced,
    reserved: parts.limited,
    granted: parts.free,
    counted: parts.unlimited,
    removed: parts.removed,
    stored: true,
    added: true,
    revised: parts.revised,
    voted: parts.votes,
    replaced: parts.replaced,
    keyed: parts.keys,
    announced: parts.events,
  }
  const names = Object.keys(ctes) as (keyof typeof ctes)[]
  const defined = names.filter((name) => used[name]).map((name) => `${name} as ${ctes[name]}`)
  const fence = fenceSql(sets.reduce((sum, { columns }) => sum + Object.keys(columns).length, 1))
  return `with ${fence.cte},\n${defined.join(',\n')}
    select organisation_id as organisation, used from ${granted} where ${fence.condition}`
}

const statements = new Map<string, string>()

/** An organisation whose changes are stored, with its count for the month if it has a limit and counted signals. */
export interface Granted {
  organisation: number
  used: number | null
}

export interface RecordStatement {
  sql: string
  parameters: string[]
  /** What the rows that it returns say. */
  granted: (rows: Row[]) => Granted[]
}

/**
 * The statement that stores these rows. Each writer adds to sums of its own. Without `addsRecent`, it stores
 * nothing for organisations that have a limit and recorded without one this month.
 */
export function recordStatement(
  rows: ChangedRows,
  writer: number,
  fence: number,
  addsRecent: boolean,
): RecordStatement {
  const parts = partsOf(rows, addsRecent)
  const key = Object.values(parts).map(Number).join('')
  const sql = statements.get(key) ?? recordSql(parts)
  statements.set(key, sql)
  return {
    sql,
    parameters: [...parametersOf(setsOf(parts), rows, writer), String(fence)],
    granted: (rows) => rows as unknown as Granted[],
  }
}
