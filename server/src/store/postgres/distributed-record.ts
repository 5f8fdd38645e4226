import type { ColumnType, Row } from '../sql/database.ts'
import type { ChangedRows } from '../sql/signal-changes.ts'
import {
  events,
  hourSums,
  insertInto,
  keys,
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
import type { RecordStatement } from './record-statement.ts'

const sets = { usage, signals, sums, removed, revisions, votes, keys, events }
type SetName = keyof typeof sets
const setNames = Object.keys(sets) as SetName[]
const columnsOf = (wanted: ColumnType) =>
  setNames.flatMap((set) =>
    Object.entries(sets[set].columns).flatMap(([name, type]) => (type === wanted ? [`${set}_${name}`] : [])),
  )
const [numbers, texts] = [columnsOf('bigint'), columnsOf('text')]

/**
 * The function that records signals of organisations on one worker, in one round trip and one transaction. All numbers are in one
 * argument, an array of arrays as text: Citus converts each argument twice. Through the coordinator, Citus runs it on the worker of its
 * last argument. Processes of two versions may run at the same time, so a change of the function needs a new name.
 */
export const recordFunction = {
  name: 'record_signals_7',
  parameters: {
    numbers: 'text[]',
    ...Object.fromEntries(texts.map((name) => [`${name}_json`, 'json'])),
    /** The function stores nothing (try-recording.ts). */
    is_trial: 'boolean',
    /** Says on which worker the function runs. */
    organisation: 'bigint',
  },
}
const parameterNames = Object.keys(recordFunction.parameters)

/** The place of an argument, counted from 0. */
export function placeOf(argument: 'is_trial' | 'organisation'): number {
  return parameterNames.indexOf(argument)
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

const shardOf = (organisation: string) => `get_shard_id_for_distribution_column('signal_usage', ${organisation})`

/**
 * The body of the function. It stores the same rows as the statement for plain PostgreSQL (record-statement.ts). Citus spends most of
 * the time of a statement on planning it, each time again. So each statement has a copy for each shard, on the shard's own table, and
 * PostgreSQL keeps its plan.
 *
 * These statements bypass Citus, so the function takes its locks: on the shards, which keeps them from being moved or split until the
 * commit, and on a distributed table, which others lock to stop all writers (distributed-snapshot.ts). A batch with a shard that was
 * moved to another worker, or that is newer than the function, goes through Citus, as if it had one shard.
 */
export function recordBody(groups: ShardGroup[]): string {
  /** A statement on the tables of the shard `s.shard`. */
  const onShard = (statement: (table: (name: string) => string) => string) => `case s.shard
        ${groups.map(({ id, tables }) => `when ${id} then ${statement((name) => tables[name] as string)};`).join('\n        ')}
        else ${statement((name) => name)};
        end case;`
  /** An expression with the columns of row `i` of a set. */
  const at = (set: SetName, expression: string) =>
    expression.replaceAll(
      new RegExp(`(\\$\\.)?\\b(${Object.keys(sets[set].columns).join('|')})\\b`, 'g'),
      `${set}_$2[i]`,
    )
  /** Runs a block for the rows of each shard, in order, that are stored and meet the condition: `i in s.places`. */
  const forShards = (set: SetName, { order = 'i', condition = 'true' }, block: string) => `
  if cardinality(${set}_organisation_id) > 0 then
    for s in select case when is_direct then ${shardOf(`${set}_organisation_id[i]`)} end as shard, array_agg(i order by ${at(set, order)}) as places
      from generate_subscripts(${set}_organisation_id, 1) as i
      where ${set}_organisation_id[i] <> all (skipped) and ${at(set, condition)} group by 1 order by 1
    loop
      ${block}
    end loop;
  end if;`
  const insert = (table: string, set: SetName, rows: RowSet, condition = 'true') =>
    forShards(
      set,
      { order: rows.order ?? 'i', condition },
      onShard((t) => insertInto(t(table), rows, (values) => `select ${at(set, values)} from unnest(s.places) as i`)),
    )
  /** Runs a block for each row `r`: few replace a vote. */
  const forEach = (set: SetName, condition: string, block: string) =>
    forShards(
      set,
      { order: sets[set].order ?? 'i', condition },
      `for r in select ${Object.keys(sets[set].columns)
        .map((name) => `${set}_${name}[i] as ${name}`)
        .join(', ')} from unnest(s.places) as i loop
        ${block}
      end loop;`,
    )
  const limited = 'signals > 0 and (month_limit is null or signals <= month_limit)'

  return `
#variable_conflict use_column
declare
  ${numbers.map((name, i) => `${name} bigint[] := numbers[${i + 1}];`).join('\n  ')}
  ${texts.map((name) => `${name} text[];`).join('\n  ')}
  shards bigint[] := array(select distinct ${shardOf('id')} from unnest(usage_organisation_id) as id order by 1);
  is_direct boolean;
  -- The organisations that count signals, each followed by its count for the month.
  counts bigint[] := '{}';
  counted bigint[] := '{}';
  -- The organisations whose changes are not stored, because a vote is not as expected or the limit is reached.
  skipped bigint[] := '{}';
  r record;
  s record;
  v record;
begin
  ${texts.map((name) => `if json_array_length(${name}_json) > 0 then ${name} := array(select json_array_elements_text(${name}_json)); end if;`).join('\n  ')}
  perform lock_relation_if_exists('signal_hours', 'ROW EXCLUSIVE');
  perform lock_shard_metadata(5, shards);
  is_direct := shards <@ array[${groups.map(({ id }) => id).join(', ')}]::bigint[] and cardinality(shards) =
    (select count(*) from pg_dist_placement join pg_dist_local_group using (groupid) where shardid = any (shards));
  ${forEach(
    'votes',
    'expected is not null',
    `${onShard((t) => `select s.vote_id into v from ${t('signal_subjects')} s where ${sameIn('s', 'r', voteKey)} for update`)}
        if v.vote_id is distinct from r.expected then
          skipped := skipped || r.organisation_id;
        end if;`,
  )}
  -- The monthly limit, as in monthly-limit.ts: the row stays locked until the commit, so the limit is exact.
  ${forShards(
    'usage',
    { order: 'organisation_id', condition: limited },
    onShard(
      (t) => `for r in insert into ${t('signal_usage')} as stored (organisation_id, month, used, month_limit)
          select ${at('usage', 'organisation_id, month, signals, month_limit')} from unnest(s.places) as i
          on conflict (organisation_id, month) do update
            set used = stored.used + excluded.used, month_limit = excluded.month_limit
            where excluded.month_limit is null or stored.used + excluded.used <= excluded.month_limit
          returning organisation_id, used loop
          counts := counts || r.organisation_id || r.used;
          counted := counted || r.organisation_id;
        end loop`,
    ),
  )}
  if cardinality(counted) < cardinality(usage_organisation_id) then
    skipped := skipped || array(select usage_organisation_id[i] from generate_subscripts(usage_organisation_id, 1) as i
      where usage_signals[i] > 0 and usage_organisation_id[i] <> all (counted));
  end if;
  ${forEach(
    'removed',
    'true',
    onShard((t) => `delete from ${t('signals')} s where ${sameIn('s', 'r', signalKey)}`),
  )}
  ${insert('signals', 'signals', signals)}
  -- The rows of all tables are locked in the same order as everywhere else, which prevents deadlocks.
  ${insert('signal_hours', 'sums', hourSums, 'version is null')}
  ${insert('version_hours', 'sums', versionSums, 'version is not null')}
  ${insert('hour_revisions', 'revisions', revisions)}
  ${insert('signal_subjects', 'votes', votes, 'expected is null')}
  ${forEach(
    'votes',
    'expected is not null',
    onShard((t) => `update ${t('signal_subjects')} s ${updateVote('r')} where ${sameIn('s', 'r', voteKey)}`),
  )}
  ${insert('idempotency_keys', 'keys', keys)}
  ${insert('signal_events', 'events', events)}
  -- Within a transaction, which could be rolled back, Citus would not run the function on the worker.
  if is_trial then raise sqlstate '${trialSucceeded}';
  end if;
  return json_build_object('skipped', skipped, 'counts', counts);
end `
}

export function createRecordFunction(groups: ShardGroup[]): string {
  const { name, parameters } = recordFunction
  // Without the first setting, PostgreSQL plans each statement of each shard six times on each connection. Without the second one,
  // workers would not find the tables in a schema that the URL of the service selects.
  const declared = Object.entries(parameters).map(([argument, type]) => `${argument} ${type}`)
  return `create or replace function ${name}(${declared.join(', ')}) returns json language plpgsql
    set plan_cache_mode = force_generic_plan set search_path from current as $$${recordBody(groups)}$$`
}

const placeholders = parameterNames.map((_, i) => `$${i + 1}`)
// Nothing around the call: Citus sends only a bare one to the worker, and runs any other on the coordinator.
const sql = `select ${recordFunction.name}(${placeholders.join(', ')}) as recorded`

/** The call that stores these rows, of organisations on one worker. */
export function distributedStatement(rows: ChangedRows): RecordStatement {
  const ofType: Record<ColumnType, string[]> = { bigint: [], text: [] }
  for (const set of setNames) {
    const parameters = sets[set].parameters(rows, 0)
    for (const [i, type] of Object.values(sets[set].columns).entries()) ofType[type].push(parameters[i] as string)
  }
  const numbers = `{${ofType.bigint.map((column) => `"${column}"`).join(',')}}`
  return {
    sql,
    parameters: [numbers, ...ofType.text, 'false', String(rows.usage[0]?.organisationId)],
    granted([row]) {
      const { skipped, counts } = (row as Row).recorded as unknown as { skipped: number[]; counts: number[] }
      const used = new Map(counts.flatMap((of, i) => (i % 2 === 0 ? [[of, counts[i + 1] as number]] : [])))
      return rows.usage.flatMap(({ organisationId: organisation }) =>
        skipped.includes(organisation) ? [] : [{ organisation, used: used.get(organisation) ?? null }],
      )
    },
  }
}
