import type { ChangedRows } from '../sql/signal-changes.ts'
import {
  events,
  hourSums,
  inputOf,
  insertInto,
  keys,
  parametersOf,
  type RowSet,
  removed,
  revisions,
  sameIn,
  signalKey,
  signals,
  sums,
  updateVote,
  usage,
  versionSums,
  voteKey,
  votes,
} from './record-rows.ts'
import type { Granted, RecordStatement } from './record-statement.ts'

const sets = [usage, signals, sums, removed, revisions, votes, keys, events]
const types = sets.flatMap(({ columns }) => Object.values(columns))
const eventsParameter = types.length - Object.keys(events.columns).length + 1

/**
 * The function that records signals of organisations on one worker. Citus runs it on the worker of its last argument, in one round
 * trip and one transaction. Processes of two versions may run at the same time, so a change of the function needs a new name.
 */
export const recordFunction = {
  name: 'record_signals_8',
  parameterTypes: [...types.map((type) => (type === 'bigint' ? 'bigint[]' : 'json')), 'boolean', 'bigint'],
  /** The argument with which the function stores nothing (try-recording.ts), counted from 1. */
  isTrial: types.length + 1,
  /** The argument that says on which worker the function runs. */
  organisation: types.length + 2,
}

/** The error of a trial in which everything worked. */
export const trialSucceeded = 'PL001'

/** The parts of the distributed tables that are always on the same worker. */
export interface ShardGroup {
  /** The number of its part of `signal_usage`. */
  id: number
  /** The name of each table's part. */
  tables: Record<string, string>
}

const shardId = `get_shard_id_for_distribution_column('signal_usage', organisation_id)`

/**
 * The body of the function. It stores the same rows as the statement for plain PostgreSQL (record-statement.ts), one by one. Citus
 * spends most of the time of a statement on planning it, each time again. So each statement has a copy for each shard, on the shard's
 * own table, and PostgreSQL keeps its plan.
 *
 * These statements bypass Citus, so the function takes its locks: on the shards, which keeps them from being moved or split until the
 * commit, and on a distributed table, which others lock to stop all writers (distributed-snapshot.ts). A batch with a shard that was
 * moved to another worker, or that is newer than the function, goes through Citus.
 */
export function recordBody(shards: ShardGroup[]): string {
  /** A statement on the tables of the organisation of `r`. */
  const onShard = (statement: (table: (name: string) => string) => string) => `case r.shard
      ${shards.map(({ id, tables }) => `when ${id} then ${statement((name) => tables[name] as string)};`).join('\n      ')}
      else ${statement((name) => name)};
      end case;`
  /** Runs a block for each row of a set as `r`, without organisations whose changes are not stored. */
  const forEach = (set: RowSet, block: string, condition = 'true', order = set.order ?? 'organisation_id') => `
  for r in select case when is_direct then ${shardId} end as shard, * from ${inputOf(sets, set)}
    where organisation_id <> all (skipped) and ${condition} order by ${order}
  loop
    ${block}
  end loop;`
  const insert = (table: string, set: RowSet) =>
    onShard((t) => insertInto(t(table), set, (expressions) => `values (${expressions.replaceAll('$.', 'r.')})`))

  return `
#variable_conflict use_column
declare
  shards bigint[] := array(select distinct ${shardId} from ${inputOf(sets, usage)} order by 1);
  is_direct boolean;
  granted jsonb := '[]';
  -- The organisations whose changes are not stored, because a vote is not as expected or the limit is reached.
  skipped bigint[] := '{}';
  total bigint;
  r record;
  v record;
begin
  perform lock_relation_if_exists('signal_hours', 'ROW EXCLUSIVE');
  perform lock_shard_metadata(5, shards);
  is_direct := shards <@ array[${shards.map(({ id }) => id).join(', ')}]::bigint[] and cardinality(shards) =
    (select count(*) from pg_dist_placement join pg_dist_local_group using (groupid) where shardid = any (shards));
  ${forEach(
    votes,
    `${onShard((t) => `select s.vote_id into v from ${t('signal_subjects')} s where ${sameIn('s', 'r', voteKey)} for update`)}
    if v.vote_id is distinct from r.expected then
      skipped := skipped || r.organisation_id;
    end if;`,
    'expected is not null',
  )}
  -- The monthly limit, as in monthly-limit.ts: the row stays locked until the commit, so the limit is exact.
  ${forEach(
    usage,
    `total := null;
    if r.signals > 0 and (r.month_limit is null or r.signals <= r.month_limit) then
      ${onShard(
        (t) => `insert into ${t('signal_usage')} as usage (organisation_id, month, used, month_limit)
        values (r.organisation_id, r.month, r.signals, r.month_limit)
        on conflict (organisation_id, month) do update
          set used = usage.used + excluded.used, month_limit = excluded.month_limit
          where excluded.month_limit is null or usage.used + excluded.used <= excluded.month_limit
        returning usage.used into total`,
      )}
    end if;
    if r.signals > 0 and total is null then
      skipped := skipped || r.organisation_id;
    else
      granted := granted || jsonb_build_object('organisation', r.organisation_id, 'used', total);
    end if;`,
  )}
  ${forEach(
    removed,
    onShard((t) => `delete from ${t('signals')} s where ${sameIn('s', 'r', signalKey)}`),
  )}
  ${forEach(signals, insert('signals', signals), 'true', 'place')}
  -- The rows of all tables are locked in the same order as everywhere else, which prevents deadlocks.
  ${forEach(sums, insert('signal_hours', hourSums), 'version is null', hourSums.order)}
  ${forEach(sums, insert('version_hours', versionSums), 'version is not null', versionSums.order)}
  ${forEach(revisions, insert('hour_revisions', revisions))}
  ${forEach(
    votes,
    `if r.expected is null then
      ${insert('signal_subjects', votes)}
    else
      ${onShard((t) => `update ${t('signal_subjects')} s ${updateVote('r')} where ${sameIn('s', 'r', voteKey)}`)}
    end if;`,
  )}
  ${forEach(keys, insert('idempotency_keys', keys))}
  -- Few organisations have a webhook for signals.
  if cardinality($${eventsParameter}) > 0 then ${forEach(events, insert('signal_events', events))}
  end if;
  -- Within a transaction, which could be rolled back, Citus would not run the function on the worker.
  if $${recordFunction.isTrial} then raise sqlstate '${trialSucceeded}';
  end if;
  return granted;
end `
}

export function createRecordFunction(shards: ShardGroup[]): string {
  const { name, parameterTypes } = recordFunction
  // Without the first setting, PostgreSQL plans each statement of each shard six times on each connection. Without the second one,
  // workers would not find the tables in a schema that the URL of the service selects.
  return `create or replace function ${name}(${parameterTypes.join(', ')}) returns json language plpgsql
    set plan_cache_mode = force_generic_plan set search_path from current as $$${recordBody(shards)}$$`
}

const parameters = recordFunction.parameterTypes.map((_, i) => `$${i + 1}`)
// Nothing around the call: Citus sends only a bare one to the worker, and runs any other on the coordinator.
const sql = `select ${recordFunction.name}(${parameters.join(', ')}) as granted`

/** The call that stores these rows, of organisations on one worker. */
export function distributedStatement(rows: ChangedRows): RecordStatement {
  const organisation = rows.usage[0]?.organisationId
  return {
    sql,
    parameters: [...parametersOf(sets, rows, 0), 'false', String(organisation)],
    granted: ([row]) => row?.granted as unknown as Granted[],
  }
}
