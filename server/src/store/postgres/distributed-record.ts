import type { Instant } from '../../domain/time.ts'
import { batchInput, batchParameters } from './batch-columns.ts'
import { changeColumns, changeRows, keyRows, type SignalChange } from './detailed-statement.ts'

/**
 * The function that records signals of organisations on one worker. Citus runs it on the worker of its last argument, in one round
 * trip and one transaction. Processes of two versions may run at the same time, so a change of the function needs a new name.
 */
export const recordFunction = {
  name: 'record_signals_2',
  parameterTypes: [...changeColumns.map(({ type }) => (type === 'bigint' ? 'bigint[]' : 'json')), 'json', 'bigint'],
  /** The argument that says on which worker the function runs, counted from 1. */
  organisation: changeColumns.length + 2,
}

/** The parts of the distributed tables that are always on the same worker. */
export interface ShardGroup {
  /** The number of its part of `signal_usage`. */
  id: number
  /** The name of each table's part. */
  tables: Record<string, string>
}

const input = (...names: string[]) => batchInput(changeColumns, names)
const wholeInput = batchInput(changeColumns)
const parameter = (name: string) => `$${changeColumns.findIndex((column) => column.name === name) + 1}`
// Columns without values are empty.
const hasValues = (name: string) => `json_array_length(${parameter(name)}) > 0`

const requestKeys = `json_to_recordset($${changeColumns.length + 1}) as keys (place bigint, index bigint, organisation_id bigint,
  key text, fingerprint text, signal_id bigint, created_at bigint, status bigint)`

const isGranted = 'place <> all (skipped)'
const shardId = `get_shard_id_for_distribution_column('signal_usage', organisation_id)`
// Null if the batch goes through Citus.
const shard = `case when is_direct then ${shardId} end as shard`

/** The hourly changes of all granted signals: one more for each, one less for each vote that is replaced. */
const changes = `(
  select organisation_id, prompt_id, version, hour, value, 1 as count
    from ${input('organisation_id', 'prompt_id', 'hour', 'value', 'version')} where ${isGranted} and value is not null
  union all
  select organisation_id, prompt_id, old_version, old_hour, old_value, -1
    from ${input('organisation_id', 'prompt_id', 'old_hour', 'old_value', 'old_version')}
    where ${hasValues('old_value')} and ${isGranted} and old_value is not null
) changes`

const sums = `coalesce(sum(count) filter (where value = 'positive'), 0) as positive,
  coalesce(sum(count) filter (where value = 'negative'), 0) as negative`

/**
 * The body of the function. It does row by row what the statements for plain PostgreSQL do at once (detailed-statement.ts), with
 * the same result. Citus spends most of the time of a statement on planning it, each time again. So each statement has a copy for
 * each shard, on the shard's own table, and PostgreSQL keeps its plan.
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

  return `
#variable_conflict use_column
declare
  shards bigint[] := array(select distinct ${shardId} from ${input('organisation_id')} order by 1);
  is_direct boolean;
  known jsonb := '[]';
  stale jsonb := '[]';
  reserved jsonb := '[]';
  -- The places of changes that are not stored, because they are known, stale or over the limit.
  skipped bigint[] := '{}';
  has_keys boolean := json_array_length($${changeColumns.length + 1}) > 0;
  has_subjects boolean := ${hasValues('subject')};
  has_versions boolean := ${hasValues('version')} or ${hasValues('old_version')};
  total bigint;
  r record;
  v record;
begin
  perform lock_relation_if_exists('signal_hours', 'ROW EXCLUSIVE');
  perform lock_shard_metadata(5, shards);
  is_direct := shards <@ array[${shards.map(({ id }) => id).join(', ')}]::bigint[] and cardinality(shards) =
    (select count(*) from pg_dist_placement join pg_dist_local_group using (groupid) where shardid = any (shards));

  if has_keys then
    for r in select ${shard}, * from ${requestKeys} order by organisation_id, key collate "C" loop
      ${onShard(
        (t) => `select k.fingerprint, k.signal_id, k.created_at, k.status into v
        from ${t('idempotency_keys')} k where k.organisation_id = r.organisation_id and k.key = r.key`,
      )}
      if found then
        known := known || jsonb_build_object('place', r.place, 'index', r.index, 'id', v.signal_id, 'createdAt', v.created_at,
          'fingerprint', v.fingerprint, 'status', v.status);
        skipped := skipped || r.place;
      end if;
    end loop;
  end if;

  if has_subjects then
    for r in select ${shard}, * from ${input('organisation_id', 'prompt_id', 'expected', 'subject')} where subject is not null
      order by organisation_id, prompt_id, subject collate "C"
    loop
      ${onShard(
        (t) => `select s.signal_id, s.vote_id, s.value, s.version, s.created_at, s.received_at into v
        from ${t('signal_subjects')} s where s.organisation_id = r.organisation_id and s.prompt_id = r.prompt_id and s.subject = r.subject for update`,
      )}
      if r.place <> all (skipped) and v.vote_id is distinct from r.expected then
        skipped := skipped || r.place;
        if v.vote_id is null then
          stale := stale || jsonb_build_object('place', r.place, 'vote', null);
        else
          stale := stale || jsonb_build_object('place', r.place, 'vote', jsonb_build_object('signal_id', v.signal_id,
            'vote_id', v.vote_id, 'value', v.value, 'version', v.version, 'created_at', v.created_at,
            'received_at', v.received_at,
            'expired', greatest(v.received_at, v.created_at) < (select kept_since from signal_retention)));
        end if;
      end if;
    end loop;
  end if;

  -- The monthly limit, as in monthly-limit.ts: the row stays locked until the commit, so the limit is exact.
  for r in select ${shard}, organisation_id, month, count(*) as count, max(month_limit) as month_limit
    from ${input('organisation_id', 'month', 'month_limit', 'counted')}
    where counted = 1 and ${isGranted} group by organisation_id, month order by organisation_id, month
  loop
    total := null;
    if r.month_limit is null or r.count <= r.month_limit then
      ${onShard(
        (t) => `insert into ${t('signal_usage')} as usage (organisation_id, month, used, month_limit)
        values (r.organisation_id, r.month, r.count, r.month_limit)
        on conflict (organisation_id, month) do update
          set used = usage.used + excluded.used, month_limit = excluded.month_limit
          where excluded.month_limit is null or usage.used + excluded.used <= excluded.month_limit
        returning usage.used into total`,
      )}
    end if;
    if total is null then
      skipped := skipped || array(select place from ${input('organisation_id', 'month', 'counted')}
        where counted = 1 and organisation_id = r.organisation_id and month = r.month);
    else
      reserved := reserved || jsonb_build_object('organisation', r.organisation_id, 'month', r.month, 'used', total);
    end if;
  end loop;

  for r in select ${shard}, * from ${wholeInput} where ${isGranted} order by place loop
    if r.row_change in ('delete', 'move') then
      ${onShard(
        (t) => `delete from ${t('signals')} s
        where s.organisation_id = r.organisation_id and s.prompt_id = r.prompt_id and s.created_at = r.old_created_at and s.id = r.id`,
      )}
    elsif r.row_change = 'update' then
      ${onShard(
        (t) => `update ${t('signals')} s set value = r.value, metadata = r.metadata, version = r.version,
          voter = r.voter, comment = r.comment, received_at = nullif(r.received_at, r.created_at), trace_id = r.trace_id
        where s.organisation_id = r.organisation_id and s.prompt_id = r.prompt_id and s.created_at = r.old_created_at
          and s.id = r.id`,
      )}
    end if;
    if r.row_change in ('insert', 'move') then
      ${onShard(
        (t) => `insert into ${t('signals')} (id, organisation_id, prompt_id, value, metadata, created_at, version,
          subject, voter, comment, received_at, trace_id)
        values (r.id, r.organisation_id, r.prompt_id, r.value, r.metadata, r.created_at, r.version, r.subject, r.voter, r.comment,
          nullif(r.received_at, r.created_at), r.trace_id)`,
      )}
    end if;
  end loop;

  -- The rows of all tables are locked in the same order as everywhere else, which prevents deadlocks.
  for r in select ${shard}, * from (
    select organisation_id, prompt_id, hour, ${sums} from ${changes} group by organisation_id, prompt_id, hour
  ) sums where positive <> 0 or negative <> 0 order by organisation_id, prompt_id, hour
  loop
    ${onShard(
      (t) => `insert into ${t('signal_hours')} as hours (organisation_id, prompt_id, hour, positive, negative)
      values (r.organisation_id, r.prompt_id, r.hour, r.positive, r.negative)
      on conflict (organisation_id, prompt_id, hour) do update
        set positive = hours.positive + excluded.positive, negative = hours.negative + excluded.negative`,
    )}
  end loop;
  if has_versions then
    for r in select ${shard}, * from (
      select organisation_id, prompt_id, version, hour, ${sums} from ${changes} where version is not null
      group by organisation_id, prompt_id, version, hour
    ) sums where positive <> 0 or negative <> 0 order by organisation_id, prompt_id, version collate "C", hour
    loop
      ${onShard(
        (t) => `insert into ${t('version_hours')} as hours (organisation_id, prompt_id, version, hour, positive,
          negative)
        values (r.organisation_id, r.prompt_id, r.version, r.hour, r.positive, r.negative)
        on conflict (organisation_id, prompt_id, version, hour) do update
          set positive = hours.positive + excluded.positive, negative = hours.negative + excluded.negative`,
      )}
    end loop;
  end if;
  if 1 = any (${parameter('changes_closed')}) then
    for r in select ${shard}, organisation_id, prompt_id
      from ${input('organisation_id', 'prompt_id', 'changes_closed')} where changes_closed = 1 and ${isGranted}
      group by organisation_id, prompt_id order by organisation_id, prompt_id
    loop
      ${onShard(
        (t) => `insert into ${t('hour_revisions')} as revisions (organisation_id, prompt_id, revision)
        values (r.organisation_id, r.prompt_id, 1)
        on conflict (organisation_id, prompt_id) do update set revision = revisions.revision + 1`,
      )}
    end loop;
  end if;

  if has_subjects then
    for r in select ${shard}, * from ${wholeInput}
      where subject is not null and vote_id is not null and ${isGranted} order by organisation_id, prompt_id, subject collate "C"
    loop
      if r.expected is null then
        ${onShard(
          (t) => `insert into ${t('signal_subjects')} (organisation_id, prompt_id, subject, signal_id, vote_id, value,
            version, created_at, received_at)
          values (r.organisation_id, r.prompt_id, r.subject, r.id, r.vote_id, r.value, r.version, r.created_at, r.received_at)`,
        )}
      else
        ${onShard(
          (t) => `update ${t('signal_subjects')} s set signal_id = r.id, vote_id = r.vote_id, value = r.value,
            version = r.version, created_at = r.created_at, received_at = r.received_at
          where s.organisation_id = r.organisation_id and s.prompt_id = r.prompt_id and s.subject = r.subject`,
        )}
      end if;
    end loop;
  end if;

  if has_keys then
    for r in select ${shard}, * from ${requestKeys}
      where ${isGranted} and signal_id is not null order by organisation_id, key collate "C"
    loop
      ${onShard(
        (t) => `insert into ${t('idempotency_keys')} (organisation_id, key, fingerprint, signal_id, created_at, status)
        values (r.organisation_id, r.key, r.fingerprint, r.signal_id, r.created_at, r.status)`,
      )}
    end loop;
  end if;
  return json_build_object('reserved', reserved, 'known', known, 'stale', stale);
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
const sql = `select ${recordFunction.name}(${parameters.join(', ')}) as result`

/** The call that records these changes, of organisations on one worker. Its result is a `DetailedResult` in the column `result`. */
export function distributedStatement(changes: SignalChange[], now: Instant): { sql: string; parameters: string[] } {
  const columns = batchParameters(changeColumns, changeRows(changes, now))
  const organisation = (changes[0] as SignalChange).signal.organisationId
  return { sql, parameters: [...columns, JSON.stringify(keyRows(changes)), String(organisation)] }
}
