import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { onEachEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { inBatches, noDetails, signalFor } from '../../../testing/signals.ts'
import { segmentValueOf, segmentVotesOf } from '../../src/domain/impact/reading/segment-votes.ts'
import {
  maxExaminedVotes,
  maxShortWindowVotes,
  type VoteOrder,
  voterSquares,
  votesOf,
} from '../../src/domain/impact/reading/window-votes.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import type { NewSignal, VoteWindow } from '../../src/domain/signals/signal.ts'
import type { VoteRead, VoteStore } from '../../src/domain/signals/votes.ts'
import { day, hour } from '../../src/domain/time.ts'
import { votesQuery } from '../../src/store/sql/votes.ts'

interface Sent {
  at: number
  positive: boolean
  version?: string | null
  voter?: string | null
  metadata?: string | null
}

function newSignal(tenant: Tenant, { at, positive, version = null, voter = null, metadata = null }: Sent): NewSignal {
  return signalFor(tenant, {
    value: positive ? 'positive' : 'negative',
    createdAt: at,
    metadata,
    details: { ...noDetails, version, voter },
  })
}

async function send(tenant: Tenant, sent: Sent[]): Promise<void> {
  await tenant.service.store.signals.import(inBatches(sent.map((each) => newSignal(tenant, each))))
}

function windowOf(changes: Partial<VoteWindow> = {}): VoteWindow {
  return { versions: [], spans: [], unversionedOnly: false, until: Number.MAX_SAFE_INTEGER, ...changes }
}

/** Counts what the reads cost. */
function counting(store: VoteStore): VoteStore & { examined: number; largest: number } {
  const counted = {
    examined: 0,
    largest: 0,
    hasVoters: store.hasVoters,
    async votes(...[prompt, read, member]: Parameters<VoteStore['votes']>) {
      const slice = await store.votes(prompt, read, member)
      counted.examined += slice.examined
      counted.largest = Math.max(counted.largest, slice.examined)
      return slice
    },
  }
  return counted
}

onEachEngine('The votes of a window', (engine) => {
  const service = useService(engine)
  const start = Date.parse('2026-10-28T00:00:00.000Z')

  test('are the first or the last that count for a change, by version and by time, in the order of time', async () => {
    const span = fc
      .tuple(fc.integer({ min: 0, max: 90 }), fc.integer({ min: 0, max: 30 }))
      .map(([from, length]) => ({ from: start + from * hour, until: start + (from + length) * hour }))
    const sent = fc.record({
      // A few signals share their time, and two months hold them, which are two partitions on PostgreSQL.
      at: fc.integer({ min: 0, max: 120 }).map((at) => start + at * hour),
      positive: fc.boolean(),
      version: fc.constantFrom(null, 'aaaaaaa', 'bbbbbbb'),
      voter: fc.constantFrom(null, 'v', 'w'),
    })
    const window = fc.record({
      versions: fc.subarray(['aaaaaaa', 'bbbbbbb', 'ccccccc']),
      spans: fc.uniqueArray(span, { maxLength: 1, selector: ({ from }) => from }),
      until: fc.integer({ min: 0, max: 125 }).map((at) => start + at * hour),
    })
    const order = fc.constantFrom<VoteOrder>('oldest', 'newest')
    await fc.assert(
      fc.asyncProperty(
        fc.array(sent, { maxLength: 150 }),
        window,
        order,
        fc.integer({ min: 1, max: 160 }),
        async (all, { versions, spans, until }, direction, max) => {
          const tenant = await service.tenant()
          await send(tenant, all)
          const unversionedOnly = versions.length > 0
          const wanted = all.filter(({ at, version }) => {
            if (at >= until) return false
            const inSpan = spans.some((each) => at >= each.from && at < each.until)
            return versions.includes(version as string) || (inSpan && (!unversionedOnly || version === null))
          })
          const { signals } = service.store
          const asked = { versions, spans, unversionedOnly, until }
          const found = await votesOf(signals, tenant.prompt, asked, direction, max)
          const times = wanted.map(({ at }) => at).sort((a, b) => a - b)
          assert.deepEqual(
            found.map(({ at }) => at),
            direction === 'oldest' ? times.slice(0, max) : times.slice(-max),
          )
          assert.ok(
            found.every(
              (vote, i) =>
                i === 0 || vote.at > (found[i - 1] as typeof vote).at || vote.id > (found[i - 1] as typeof vote).id,
            ),
          )
          const squares = await voterSquares(signals, tenant.prompt, asked, direction)
          const byVoter = Object.values(
            Object.groupBy(
              wanted.filter(({ voter }) => voter !== null),
              ({ voter }) => voter as string,
            ),
          )
          const unnamed = wanted.filter(({ voter }) => voter === null).length
          assert.deepEqual(squares, {
            votes: wanted.length,
            squares: unnamed + byVoter.reduce((sum, votes = []) => sum + votes.length ** 2, 0),
          })
        },
      ),
      { numRuns: 40 },
    )
  })

  test('are bounded, and read in small batches that follow an index, however many there are', async () => {
    const tenant = await service.tenant()
    const count = maxExaminedVotes + 5_000
    await send(
      tenant,
      Array.from({ length: count }, (_, i) => ({
        at: start + i * 1_000,
        positive: i % 2 === 0,
        version: i % 2 === 0 ? 'aaaaaaa' : null,
        voter: `voter ${i % 100}`,
        metadata: `{"model":"${i % 3}"}`,
      })),
    )
    const span = { from: start, until: start + day }
    for (const order of ['oldest', 'newest'] as const) {
      const short = counting(service.store.signals)
      const votes = await votesOf(short, tenant.prompt, windowOf({ spans: [span] }), order)
      assert.equal(votes.length, maxShortWindowVotes)
      assert.equal(votes[0]?.at, start + (order === 'oldest' ? 0 : count - maxShortWindowVotes) * 1_000)
      assert.deepEqual([short.examined, short.largest], [maxShortWindowVotes, 1_000])

      const voters = counting(service.store.signals)
      const all = await voterSquares(voters, tenant.prompt, windowOf({ spans: [span] }), order)
      assert.deepEqual(all, { votes: maxExaminedVotes, squares: 100 * (maxExaminedVotes / 100) ** 2 })
      assert.deepEqual([voters.examined, voters.largest], [maxExaminedVotes, 1_000])

      // Signals with a version are examined too, so they count towards the limit.
      const unversioned = counting(service.store.signals)
      const window = windowOf({ spans: [span], unversionedOnly: true })
      assert.equal((await voterSquares(unversioned, tenant.prompt, window, order)).votes, maxExaminedVotes / 2)
      assert.equal(unversioned.examined, maxExaminedVotes)

      const segments = counting(service.store.signals)
      const named = windowOf({ versions: ['aaaaaaa'] })
      const byKey = await segmentVotesOf(segments, tenant.prompt, named, order, ['model'])
      const votesOfModel = byKey.get('model') ?? new Map()
      assert.equal([...votesOfModel.values()].flat().length, count / 2)
      assert.deepEqual([...votesOfModel.keys()].sort(), ['0', '1', '2'])
      assert.ok(segments.largest <= 200)
    }
    const cursor = { at: start + hour, id: 5 }
    for (const read of [{ version: 'aaaaaaa' }, { version: null }, {}]) {
      for (const order of ['oldest', 'newest'] as const) {
        await assertFollowsIndex(tenant, { ...span, order, after: cursor, limit: 100, ...read })
      }
    }
  })

  /** PostgreSQL names the indexes of partitions by their columns. */
  async function assertFollowsIndex(tenant: Tenant, read: VoteRead): Promise<void> {
    const { sql, parameters } = votesQuery(tenant.organisation.id, tenant.prompt.id, read, 'model')
    const values = parameters.map((value) => (typeof value === 'number' ? String(value) : `'${value}'`))
    const explained = sql.replaceAll('?', () => values.shift() as string)
    const rows = await queryRows(service.url, `explain ${engine.name === 'SQLite' ? 'query plan ' : ''}${explained}`)
    const plan = rows.map((row) => Object.values(row).join(' ')).join('\n')
    const byVersion = typeof read.version === 'string'
    assert.match(
      plan,
      byVersion
        ? /signals_by_version|version_created_a|prompt_id_versi_/
        : /signals_by_time|prompt_id_created|signals_\d{4}_\d{2}_pkey/,
    )
    // An incremental sort has to sort only signals of the same time.
    assert.doesNotMatch(plan, /Seq Scan|(?<!Incremental )Sort {2}\(|TEMP B-TREE|SCAN signals/)
  }

  test('do not include signals that retention removed', async () => {
    const tenant = await service.tenant()
    await send(tenant, [
      { at: service.now - 100 * day, positive: true },
      { at: service.now - day, positive: false },
    ])
    await removeOldSignals(service.store.signals, 30, service.now)
    const window = windowOf({ spans: [{ from: 0, until: service.now }] })
    const votes = await votesOf(service.store.signals, tenant.prompt, window, 'oldest')
    assert.deepEqual(
      votes.map(({ value }) => value),
      ['negative'],
    )
  })
})

test('a segment is a text, number or boolean of the metadata, and anything else is none', () => {
  const values: [string, string | null][] = [
    ['{"model":"a\\u0062"}', 'ab'],
    ['{"model":1.50}', '1.5'],
    ['{"model":true}', 'true'],
    ['{"model":"x","model":"y"}', 'y'],
    ['{"model":null}', null],
    ['{"model":{"a":1}}', null],
    ['{"model":["a"]}', null],
    ['{"other":"a"}', null],
    [JSON.stringify({ model: 'x'.repeat(201) }), null],
    ['{}', null],
  ]
  for (const [metadata, value] of values) assert.equal(segmentValueOf(JSON.parse(metadata), 'model'), value)
  assert.equal(segmentValueOf(JSON.parse('{"__proto__":"a"}'), '__proto__'), 'a')
  assert.equal(segmentValueOf({ other: 1 }, 'constructor'), null)
})
