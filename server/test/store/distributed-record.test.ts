import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { addAlert } from '../../../testing/alerts.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { isCitus, onPostgres, postgres } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'
import { noDetails, signalFor } from '../../../testing/signals.ts'
import type { RecordOutcome, SignalDetails, SignalToRecord, SignalValue } from '../../src/domain/signals/signal.ts'
import { day } from '../../src/domain/time.ts'
import { openPostgres, type PostgresDatabase } from '../../src/store/postgres/database.ts'
import { createRecordFunction } from '../../src/store/postgres/distributed-record.ts'
import { distributedTables } from '../../src/store/postgres/distributed-tables.ts'
import { partitionCreator, skippingKnownMonths } from '../../src/store/postgres/partitions.ts'
import { recentSums } from '../../src/store/postgres/recent-sums.ts'
import { recordBatch } from '../../src/store/postgres/signal-batch.ts'
import { signalFence } from '../../src/store/postgres/signal-fence.ts'

/** What the function uses of Citus, where each organisation with an even ID is on a shard that this server has. */
const citus = [
  'create table pg_dist_placement (shardid bigint, groupid bigint)',
  'create table pg_dist_local_group (groupid bigint)',
  'insert into pg_dist_local_group values (1)',
  'insert into pg_dist_placement values (2, 1), (3, 2)',
  `create function lock_relation_if_exists(text, text) returns boolean language sql as 'select true'`,
  `create function lock_shard_metadata(integer, bigint[]) returns void language sql as 'select null::void'`,
  `create function get_shard_id_for_distribution_column(text, bigint) returns bigint language sql as 'select 2 + $2 % 2'`,
]

// A cluster takes minutes to start, so it is not part of `npm test`. The function is, with tables for shards.
if (!isCitus)
  onPostgres('The function that records on a worker', () => {
    const service = useService(postgres)
    let record: (signals: SignalToRecord[]) => Promise<RecordOutcome[]>
    before(async () => {
      for (const sql of citus) await queryRows(service.url, sql)
      const tables = Object.fromEntries(distributedTables.map((name) => [name, name]))
      await queryRows(service.url, createRecordFunction([{ id: 2, tables }]))
      const database = await openPostgres(
        service.url,
        2,
        () => {},
        () => {},
      )
      onTestEnd(() => database.close())
      const distributed: PostgresDatabase = Object.create(database, { isDistributed: { value: true } })
      const prepare = skippingKnownMonths(partitionCreator(database))
      record = recordBatch(
        distributed,
        prepare,
        recentSums(distributed, 1),
        signalFence(database),
        () => service.now,
        service.store.cacheGeneration,
      )
    })

    /** Signals of every kind, in batches. */
    function batchesFor(tenant: Tenant): SignalToRecord[][] {
      const signal = (value: SignalValue | null, details?: Partial<SignalDetails>, key?: string): SignalToRecord => ({
        ...signalFor(tenant, { limit: 8 }),
        value,
        metadata: '{"a":1}',
        idempotency: key === undefined ? null : { key, fingerprint: `${value} ${details?.subject}` },
        ...(details !== undefined && { details: { ...noDetails, ...details } }),
      })
      return [
        [signal('positive'), signal('negative', undefined, 'k'), signal('negative', undefined, 'k')],
        [signal('positive', undefined, 'k'), signal('negative', undefined, 'k')],
        [signal(null, { subject: 'a' }), signal('positive', { subject: 'a', version: 'abcdef1', voter: 'v' }, 'a')],
        [signal('positive', { subject: 'b' }), signal('negative', { subject: 'a', comment: 'c' }), signal('negative')],
        [signal('positive', { subject: 'a', occurredAt: service.now - 40 * day }), signal(null, { subject: 'b' })],
        [
          signal(null, { subject: 'unknown' }, 'u'),
          signal('positive', { subject: 'b' }),
          signal(null, { subject: 'c' }),
        ],
        [signal('positive', { version: 'abcdef2', traceId: 't' }), { ...signal('positive'), limit: null }],
        [signal('positive'), signal('negative'), signal('positive'), signal(null, { subject: 'a' })],
        [signal('positive'), signal('positive', { subject: 'b' })],
      ]
    }

    test('stores the same as the statement for one server, and answers the same', async () => {
      // Of one shard on this server, and of one that is on another, so that Citus forwards the statements.
      const tenants = [await service.tenant(), await service.tenant()]
      const twin = await service.tenant()
      for (const { organisation } of [...tenants, twin]) {
        await addAlert(service, organisation.id, { channel: 'cloudevents', signals: true })
      }
      for (const tenant of tenants) {
        const answers = []
        for (const batch of batchesFor(tenant)) answers.push(await record(batch))
        const expected = []
        if (tenant === tenants[0]) {
          for (const batch of batchesFor(twin)) {
            expected.push(await Promise.all(batch.map((signal) => service.store.signals.record(signal))))
          }
          assert.deepEqual(withoutNumbers(answers), withoutNumbers(expected))
        }
        assert.deepEqual(await rowsOf(tenant), await rowsOf(twin))
      }
      await assertSumsAgree(service.url)
    })

    function withoutNumbers(answers: RecordOutcome[][]): unknown {
      return answers.map((batch) =>
        batch.map((outcome) => ({ ...outcome, id: 0, ...('used' in outcome && { used: 0 }) })),
      )
    }

    async function rowsOf({ organisation: { id } }: Tenant): Promise<unknown> {
      const of = `where organisation_id = ${id}`
      const [signals, votes, sums, versions, usage, keys, revisions, events] = await Promise.all(
        [
          `select value, metadata, created_at, version, subject, voter, comment, received_at, trace_id from signals ${of} order by id`,
          `select subject, value, version, created_at, received_at, signal_id = vote_id as is_first from signal_subjects ${of} order by 1`,
          `select hour, sum(positive), sum(negative) from hour_sums ${of} group by hour having sum(positive + negative) <> 0 order by 1`,
          `select version, hour, sum(positive) from version_sums ${of} group by 1, 2 having sum(positive + negative) <> 0 order by 1, 2`,
          `select month, sum(used) from month_usage ${of} group by 1`,
          `select key, fingerprint, status from idempotency_keys ${of} order by 1`,
          `select revision from hour_revisions ${of}`,
          `select kind, occurred_at, changed_at from signal_events ${of} order by signal_id`,
        ].map((sql) => queryRows(service.url, sql)),
      )
      return { signals, votes, sums, versions, usage, keys, revisions, events }
    }
  })
