import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Engine, onEachEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, type Tenant, TestService, useService } from '../../../testing/service.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'
import { inBatches, noDetails, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newPrompt } from '../../src/domain/prompt.ts'
import { eraseSignals, metadataQuery } from '../../src/domain/signals/erasure.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import type { RecordOutcome, SignalDetails, SignalToRecord, SignalValue } from '../../src/domain/signals/signal.ts'
import type { Store } from '../../src/domain/store.ts'
import { day, hour } from '../../src/domain/time.ts'

function voteFor(tenant: Tenant, details: Partial<SignalDetails>, changes: Partial<SignalToRecord> = {}) {
  return { ...signalFor(tenant), ...changes, details: { ...noDetails, ...details } }
}

async function storedSignals({ service, prompt }: Tenant) {
  const filter = { value: null, since: null, until: null }
  return (await Array.fromAsync(service.store.signals.stream(prompt, filter))).flat()
}

onEachEngine('Votes on a subject', (engine) => {
  const service = useService(engine)
  const record = (signal: SignalToRecord) => service.store.signals.record(signal)

  test('a second vote replaces the first, keeps its ID, and is not counted again', async () => {
    const tenant = await service.tenant()
    const first = await record(voteFor(tenant, { subject: 'a', version: 'abcdef1', voter: 'v', comment: 'good' }))
    assert.ok(first.kind === 'recorded')
    const later = service.now + 5 * hour
    const second = await record(
      voteFor(tenant, { subject: 'a' }, { value: 'negative', metadata: '{"n":2}', createdAt: later }),
    )
    assert.deepEqual(second, { kind: 'replaced', id: first.id, createdAt: first.createdAt })
    assert.equal(await tenant.used(), 1)
    assert.deepEqual(await storedSignals(tenant), [
      {
        ...noDetails,
        id: first.id,
        value: 'negative',
        metadata: '{"n":2}',
        createdAt: service.now,
        occurredAt: service.now,
        version: 'abcdef1',
        subject: 'a',
      },
    ])
    await assertSumsAgree(service.url)
  })

  test('a vote that is cast and withdrawn at the same moment keeps its ID when it is cast again', async () => {
    const tenant = await service.tenant()
    const [first] = await Promise.all([
      record(voteFor(tenant, { subject: 'a' })),
      record(voteFor(tenant, { subject: 'a' }, { value: null })),
    ])
    const plain = await record(signalFor(tenant))
    const again = await record(voteFor(tenant, { subject: 'a' }))
    assert.ok(first?.kind === 'recorded' && plain.kind === 'recorded' && again.kind === 'replaced')
    assert.equal(again.id, first.id)
    assert.notEqual(plain.id, first.id)
    assert.equal((await storedSignals(tenant)).length, 2)
    await assertSumsAgree(service.url)
  })

  test('a second vote with a version and a time moves the vote to them', async () => {
    const tenant = await service.tenant()
    await record(voteFor(tenant, { subject: 'a', version: 'abcdef1' }))
    // To another month, which is another partition on PostgreSQL.
    const occurredAt = service.now - 29 * day
    await record(voteFor(tenant, { subject: 'a', version: 'abcdef2', occurredAt }))
    const [signal, ...others] = await storedSignals(tenant)
    assert.equal(others.length, 0)
    assert.deepEqual([signal?.version, signal?.occurredAt, signal?.createdAt], ['abcdef2', occurredAt, service.now])
    const versions = ['abcdef1', 'abcdef2'].map((version) => ({ promptId: tenant.prompt.id, version }))
    assert.deepEqual(await service.store.signals.versionTallies(tenant.organisation.id, versions), [
      { positive: 0, negative: 0 },
      { positive: 1, negative: 0 },
    ])
    await assertSumsAgree(service.url)
  })

  test('a withdrawn vote leaves no words behind, and the next vote revives its ID without being counted', async () => {
    const tenant = await service.tenant()
    const first = await record(
      voteFor(
        tenant,
        { subject: 'a', comment: 'secret words', voter: 'hashed-voter' },
        { metadata: '{"own":"words"}' },
      ),
    )
    assert.ok(first.kind === 'recorded')
    const { id, createdAt } = first
    assert.deepEqual(await record(voteFor(tenant, { subject: 'a' }, { value: null })), {
      kind: 'replaced',
      id,
      createdAt,
    })
    assert.deepEqual(await storedSignals(tenant), [])
    const left = JSON.stringify(await queryRows(service.url, `select * from signal_subjects where signal_id = ${id}`))
    assert.doesNotMatch(left, /words|hashed-voter/)
    assert.deepEqual(await record(voteFor(tenant, { subject: 'a' }, { value: null })), {
      kind: 'replaced',
      id,
      createdAt,
    })
    await assertSumsAgree(service.url)
    assert.deepEqual(await record(voteFor(tenant, { subject: 'a' }, { value: 'negative' })), {
      kind: 'replaced',
      id,
      createdAt,
    })
    assert.deepEqual(
      (await storedSignals(tenant)).map((signal) => [signal.id, signal.value]),
      [[id, 'negative']],
    )
    assert.equal(await tenant.used(), 1)
    await assertSumsAgree(service.url)
  })

  test('withdrawing a vote that does not exist is reported, and stores and counts nothing', async () => {
    const tenant = await service.tenant()
    const idempotency = { key: 'k', fingerprint: 'f' }
    const withdrawal = voteFor(tenant, { subject: 'a' }, { value: null, idempotency })
    assert.deepEqual(await record(withdrawal), { kind: 'unknown_subject' })
    assert.equal(await tenant.used(), 0)
    await record(voteFor(tenant, { subject: 'a' }))
    assert.equal((await record(withdrawal)).kind, 'replaced')
  })

  test('a subject is separate for each prompt and each organisation', async () => {
    const [one, other] = [await service.tenant(), await service.tenant()]
    const second = await service.store.prompts.create(newPrompt(one.organisation.id, 'second', service.now), operator)
    for (const signal of [
      voteFor(one, { subject: 'a' }),
      voteFor(one, { subject: 'a' }, { promptId: second.id }),
      voteFor(other, { subject: 'a' }),
    ]) {
      assert.equal((await record(signal)).kind, 'recorded')
    }
  })

  test('votes on one subject in one batch have their outcomes in order, and the last one counts', async () => {
    const tenant = await service.tenant()
    const values: (SignalValue | null)[] = [null, 'positive', 'negative', null, null, 'positive', 'negative']
    const outcomes = await Promise.all(values.map((value) => record(voteFor(tenant, { subject: 'a' }, { value }))))
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['unknown_subject', 'recorded', ...Array(5).fill('replaced')],
    )
    const ids = new Set(outcomes.slice(1).map((outcome) => (outcome as { id: number }).id))
    assert.equal(ids.size, 1)
    assert.equal(await tenant.used(), 1)
    assert.deepEqual(
      (await storedSignals(tenant)).map(({ value }) => value),
      ['negative'],
    )
    await assertSumsAgree(service.url)
  })

  test('at the limit a vote can be replaced and withdrawn, but not cast', async () => {
    const tenant = await service.tenant()
    const limited = (subject: string, value: SignalValue | null) =>
      record(voteFor(tenant, { subject }, { value, limit: 2 }))
    const first = await Promise.all([
      limited('a', 'positive'),
      limited('a', 'negative'),
      limited('b', 'positive'),
      limited('c', 'positive'),
      limited('c', null),
      limited('b', 'negative'),
    ])
    assert.deepEqual(
      first.map(({ kind }) => kind),
      ['recorded', 'replaced', 'recorded', 'over_limit', 'unknown_subject', 'replaced'],
    )
    assert.equal((await limited('a', null)).kind, 'replaced')
    assert.equal((await limited('a', 'positive')).kind, 'replaced')
    assert.deepEqual(await limited('d', 'positive'), { kind: 'over_limit', used: 2 })
    assert.equal(await tenant.used(), 2)
    await assertSumsAgree(service.url)
  })

  test('a repeated request returns what the first one did, also after the vote has changed', async () => {
    const tenant = await service.tenant()
    const key = (name: string) => ({ idempotency: { key: name, fingerprint: name } })
    const vote = voteFor(tenant, { subject: 'a' }, key('1'))
    const change = voteFor(tenant, { subject: 'a' }, { ...key('2'), value: 'negative' })
    const outcomes = await Promise.all([vote, change, vote, change].map(record))
    const [first] = outcomes
    assert.ok(first?.kind === 'recorded')
    const { id, createdAt } = first
    assert.deepEqual(outcomes.slice(1), [
      { kind: 'replaced', id, createdAt },
      { kind: 'repeated', id, createdAt, original: 'recorded' },
      { kind: 'repeated', id, createdAt, original: 'replaced' },
    ])
    assert.deepEqual(await record(vote), { kind: 'repeated', id, createdAt, original: 'recorded' })
    assert.deepEqual(await record(change), { kind: 'repeated', id, createdAt, original: 'replaced' })
    assert.deepEqual(
      (await storedSignals(tenant)).map(({ value }) => value),
      ['negative'],
    )
  })

  test('deleting or erasing a signal deletes its vote, so the next vote is a new signal', async () => {
    const tenant = await service.tenant()
    const { organisation, prompt } = tenant
    for (const remove of [
      (id: number) => service.store.signals.delete(prompt, id, service.now, operator),
      () =>
        eraseSignals(
          service.store.signals,
          { organisationId: organisation.id, keyId: null as never },
          metadataQuery('{"user":"u"}'),
          service.now,
        ),
    ]) {
      const vote = voteFor(tenant, { subject: 'a', version: 'abcdef1' }, { metadata: '{"user":"u"}' })
      const first = await record(vote)
      assert.ok(first.kind === 'recorded')
      await remove(first.id)
      assert.deepEqual(await queryRows(service.url, `select * from signal_subjects where signal_id = ${first.id}`), [])
      await assertSumsAgree(service.url)
      const second = await record(vote)
      assert.ok(second.kind === 'recorded' && second.id !== first.id)
      await service.store.signals.delete(prompt, second.id, service.now, operator)
    }
  })

  test('one subject that two processes vote on at once has one signal', async () => {
    const tenant = await service.tenant()
    const stores = [service.store, await openTestStore(service.url)]
    for (let round = 0; round < 10; round++) {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (stores[i % 2] as Store).signals.record(
            voteFor(
              tenant,
              { subject: `s${round}`, version: `abcdef${i % 3}` },
              { value: i % 4 === 0 ? 'negative' : 'positive' },
            ),
          ),
        ),
      )
      assert.equal(outcomes.filter(({ kind }) => kind === 'recorded').length, 1)
      assert.equal(new Set(outcomes.map((outcome) => (outcome as { id: number }).id)).size, 1)
    }
    assert.equal(await tenant.used(), 10)
    await assertSumsAgree(service.url)
  })
})

type Action =
  | {
      kind: 'record'
      subject: number | null
      value: SignalValue | null
      version: number | null
      age: number | null
      key: number | null
    }
  | { kind: 'delete'; place: number }
  | { kind: 'erase'; user: number }
  | { kind: 'import'; count: number; version: number | null }
  | { kind: 'retain'; days: number }

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('record' as const),
      subject: fc.option(fc.nat(3), { freq: 6 }),
      value: fc.constantFrom('positive', 'negative', 'positive', null),
      version: fc.option(fc.nat(2), { freq: 2 }),
      age: fc.option(fc.constantFrom(0, 1, hour, 5 * day, 29 * day), { freq: 2 }),
      key: fc.option(fc.nat(6), { freq: 1 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), place: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('erase' as const), user: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('import' as const), count: fc.nat(3), version: fc.option(fc.nat(2)) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('retain' as const), days: fc.constantFrom(40, 20, 3) }) },
)

/** Each inner array happens at once, on two processes. */
const history = fc.array(fc.array(action, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 12 })

async function perform(stores: Store[], tenant: Tenant, actions: Action[], recorded: number[]): Promise<void> {
  const { service, organisation, prompt } = tenant
  await Promise.all(
    actions.map(async (action, i) => {
      const { signals } = stores[i % stores.length] as Store
      switch (action.kind) {
        case 'record': {
          const { subject, value, version, age, key } = action
          if (subject === null && value === null) return
          const signal = voteFor(
            tenant,
            {
              subject: subject === null ? null : `s${subject}`,
              version: version === null ? null : `abcdef${version}`,
              occurredAt: age === null ? null : service.now - age,
            },
            {
              value,
              limit: 1_000_000,
              metadata: `{"user":"u-${i % 3}"}`,
              idempotency: key === null ? null : { key: `k${key}`, fingerprint: 'f' },
            },
          )
          const outcome: RecordOutcome = await signals.record(signal)
          if (outcome.kind === 'recorded') recorded.push(outcome.id)
          return
        }
        case 'delete':
          if (recorded.length > 0) {
            await signals.delete(prompt, recorded[action.place % recorded.length] as number, service.now, operator)
          }
          return
        case 'erase': {
          const by = { organisationId: organisation.id, keyId: null as never }
          await eraseSignals(signals, by, metadataQuery(`{"user":"u-${action.user}"}`), service.now)
          return
        }
        case 'import':
          await signals.import(
            inBatches(
              Array.from({ length: action.count }, () =>
                voteFor(tenant, { version: action.version === null ? null : `abcdef${action.version}` }),
              ) as never,
            ),
          )
          for (let each = 0; each < action.count; each++) recorded.push(0)
          return
        case 'retain':
          // Of two processes that drop the same month at once, one fails, and tries again an hour later.
          await removeOldSignals(signals, action.days, service.now).catch(() => {})
      }
    }),
  )
}

async function openService(engine: Engine): Promise<TestService> {
  const service = new TestService()
  await service.open(engine)
  return service
}

onEachEngine(
  'After any mix of recording, replacing, withdrawing, deleting, erasing, importing and retention',
  (engine) => {
    test('raw rows, hourly sums, sums by version, votes and usage agree', { timeout: 300_000 }, async () => {
      // A database of its own, because retention applies to the whole database.
      const service = await openService(engine)
      const stores = [service.store, await openTestStore(service.url, () => service.now)]
      const runs = engine.name === 'SQLite' ? 60 : 30
      await fc.assert(
        fc.asyncProperty(history, fc.boolean(), async (steps, together) => {
          const tenant = await service.tenant('business')
          const recorded: number[] = []
          for (const step of steps) {
            if (together) await perform(stores, tenant, step, recorded)
            else for (const action of step) await perform(stores, tenant, [action], recorded)
            service.now += 90 * 60_000
          }
          const [usage] = await queryRows(
            service.url,
            `select coalesce(sum(used), 0) as used from month_usage where organisation_id = ${tenant.organisation.id}`,
          )
          assert.equal(Number(usage?.used), recorded.length, 'usage')
          await assertSumsAgree(service.url)
        }),
        { seed: 16, numRuns: runs, endOnFailure: true },
      )
    })
  },
)
