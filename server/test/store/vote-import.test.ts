import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseWorkOf } from '../../../testing/database-work.ts'
import { onEachEngine, onPostgres, postgres } from '../../../testing/engines.ts'
import { queryRows, usageOf } from '../../../testing/rows.ts'
import { openTestStore, type Tenant, useService } from '../../../testing/service.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'
import { inBatches, noDetails, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import type { NewSignal, SignalDetails, SignalToRecord } from '../../src/domain/signals/signal.ts'
import { day, hour } from '../../src/domain/time.ts'

function voteFor(
  tenant: Tenant,
  details: Partial<SignalDetails>,
  changes: Partial<SignalToRecord & NewSignal> = {},
): SignalToRecord & NewSignal {
  return { ...signalFor(tenant), ...changes, details: { ...noDetails, ...details } }
}

onEachEngine('Importing votes', (engine) => {
  const service = useService(engine)
  const record = (signal: SignalToRecord) => service.store.signals.record(signal)
  const importSignals = (...batches: NewSignal[][]) => service.store.signals.import(inBatches(...batches))

  async function stored({ prompt }: Tenant) {
    const filter = { value: null, since: null, until: null }
    return (await Array.fromAsync(service.store.signals.stream(prompt, filter))).flat()
  }

  test('the last of several lines on a subject is stored, and counted once', async () => {
    const tenant = await service.tenant()
    const votes = Array.from({ length: 1_200 }, (_, i) =>
      voteFor(tenant, { subject: `s${i % 3}`, comment: String(i), version: i % 2 ? 'abcdef1' : null }),
    )
    const result = await importSignals(votes.slice(0, 500), [...votes.slice(500), signalFor(tenant)])
    assert.deepEqual(result, { imported: 4, replaced: 0 })
    const signals = await stored(tenant)
    assert.deepEqual(signals.map(({ comment }) => comment).sort(), ['1197', '1198', '1199', null])
    assert.equal(await tenant.used(), 4)
    await assertSumsAgree(service.url, false)
  })

  test('a vote that exists is replaced with the same ID and time of arrival, and not counted again', async () => {
    const tenant = await service.tenant()
    const first = await record(voteFor(tenant, { subject: 'a', version: 'abcdef1', voter: 'v', comment: 'good' }))
    assert.ok(first.kind === 'recorded')
    const createdAt = service.now - 40 * day
    const votes = [
      voteFor(tenant, { subject: 'a', version: 'abcdef2', comment: 'bad' }, { value: 'negative', createdAt }),
      voteFor(tenant, { subject: 'b' }, { createdAt }),
    ]
    assert.deepEqual(await importSignals(votes), { imported: 1, replaced: 1 })
    const replaced = (await stored(tenant)).find(({ subject }) => subject === 'a')
    assert.deepEqual(replaced, {
      ...noDetails,
      id: first.id,
      value: 'negative',
      metadata: null,
      version: 'abcdef2',
      subject: 'a',
      comment: 'bad',
      createdAt: first.createdAt,
      occurredAt: createdAt,
    })
    assert.deepEqual(
      (await usageOf(service.url, tenant.organisation.id)).map(({ used }) => used),
      [1, 1],
    )
    await assertSumsAgree(service.url, false)
  })

  test('an imported vote can be replaced and withdrawn by requests', async () => {
    const tenant = await service.tenant()
    await importSignals([voteFor(tenant, { subject: 'a', version: 'abcdef1' }, { createdAt: service.now - 40 * day })])
    const [imported] = await stored(tenant)
    const outcome = await record(voteFor(tenant, { subject: 'a' }, { value: 'negative' }))
    assert.deepEqual(outcome, { kind: 'replaced', id: imported?.id, createdAt: imported?.createdAt })
    await assertSumsAgree(service.url, false)
    await record({ ...voteFor(tenant, { subject: 'a' }), value: null })
    assert.deepEqual(await stored(tenant), [])
    await assertSumsAgree(service.url)
  })

  test('importing the same votes again changes nothing, and a withdrawn vote is cast again under its ID', async () => {
    const tenant = await service.tenant()
    const votes = ['a', 'b', 'c'].map((subject) => voteFor(tenant, { subject, version: 'abcdef1' }))
    await importSignals(votes)
    const before = await stored(tenant)
    assert.deepEqual(await importSignals(votes), { imported: 0, replaced: 3 })
    assert.deepEqual(await stored(tenant), before)
    await record({ ...voteFor(tenant, { subject: 'b' }), value: null })
    assert.deepEqual(await importSignals(votes), { imported: 0, replaced: 3 })
    assert.deepEqual(await stored(tenant), before)
    assert.equal(await tenant.used(), 3)
    await assertSumsAgree(service.url, false)
  })

  test('IDs of imported signals and votes are new, and signals recorded later have others', async () => {
    const tenant = await service.tenant()
    const before = await record(signalFor(tenant))
    assert.ok(before.kind === 'recorded')
    await importSignals([signalFor(tenant), voteFor(tenant, { subject: 'a' }), signalFor(tenant)])
    await importSignals([voteFor(tenant, { subject: 'b' }), signalFor(tenant)])
    const after = await record(signalFor(tenant))
    assert.ok(after.kind === 'recorded')
    assert.equal(new Set((await stored(tenant)).map(({ id }) => id)).size, 7)
    await assertSumsAgree(service.url, false)
  })

  test('votes on the same subject of other prompts stay as they are', async () => {
    const tenant = await service.tenant()
    const other = await service.prompt(tenant.organisation, 'other.md')
    await record({ ...voteFor(tenant, { subject: 'a' }), promptId: other.id })
    const stranger = await service.tenant()
    await record(voteFor(stranger, { subject: 'a' }))
    assert.deepEqual(await importSignals([voteFor(tenant, { subject: 'a' })]), { imported: 1, replaced: 0 })
    assert.equal(await tenant.used(), 2)
    await assertSumsAgree(service.url, false)
  })

  test('the audit log counts new and replaced votes', async () => {
    const tenant = await service.tenant()
    const votes = ['a', 'b'].map((subject) => voteFor(tenant, { subject }))
    const audit = { prompt: tenant.prompt, at: service.now, by: operator }
    await service.store.signals.import(inBatches(votes.slice(0, 1)), audit)
    await service.store.signals.import(inBatches(votes), audit)
    const entries = await queryRows(
      service.url,
      `select details from audit where organisation_id = ${tenant.organisation.id} and action = 'signals.imported' order by id`,
    )
    assert.deepEqual(
      entries.map(({ details }) => JSON.parse(String(details))),
      [{ signals: 1 }, { signals: 2 }],
    )
  })

  test('votes that requests change during an import agree with the sums, in any order', async () => {
    const tenant = await service.tenant('business')
    const other = await openTestStore(service.url, () => service.now)
    const castAll = async (store: typeof other, subjects: string[]) => {
      for (const [i, subject] of subjects.entries()) {
        const value = i % 3 === 0 ? null : 'negative'
        await store.signals.record({ ...voteFor(tenant, { subject, version: 'abcdef2' }), value, limit: null })
      }
    }
    for (const round of [1, 2, 3, 4, 5]) {
      const subjects = Array.from({ length: 40 }, (_, i) => `${round} ${i}`)
      const votes = subjects.toReversed().map((subject) => voteFor(tenant, { subject, version: 'abcdef1' }))
      const requests = [castAll(service.store, subjects), castAll(other, subjects)]
      await Promise.all([...requests, importSignals(votes), importSignals(votes)])
      await assertSumsAgree(service.url)
    }
    assert.equal(await tenant.used(), 200)
  })
})

onEachEngine('Importing votes that retention has passed', (engine) => {
  const service = useService(engine)

  test('a vote from before retention is a new one, and its old sums stay', async () => {
    const tenant = await service.tenant()
    const at = service.now - 100 * day
    const vote = voteFor(tenant, { subject: 'a', version: 'abcdef1' }, { createdAt: at })
    await service.store.signals.import(inBatches([vote]))
    // Only the start of retention has moved: the vote and its row are still there.
    const sql = `update signal_retention set kept_since = ${service.now - 50 * day} returning kept_since`
    await queryRows(service.url, sql)
    const now = voteFor(tenant, { subject: 'a', version: 'abcdef1' }, { createdAt: service.now - hour })
    assert.deepEqual(await service.store.signals.import(inBatches([now])), { imported: 1, replaced: 0 })
    assert.equal(await tenant.used(), 2)
    const hours = await queryRows(
      service.url,
      'select sum(positive) as positive from hour_sums group by hour order by hour',
    )
    assert.deepEqual(
      hours.map(({ positive }) => Number(positive)),
      [1, 1],
    )
    await assertSumsAgree(service.url)
    await removeOldSignals(service.store.signals, 50, service.now)
    await assertSumsAgree(service.url)
  })
})

onPostgres('The statistics of PostgreSQL', () => {
  const service = useService(postgres)

  test('an import renews them if it is large, and a small one leaves the months alone', async () => {
    const tenant = await service.tenant()
    const analyzed = async (count: number) => {
      const signals = Array<NewSignal>(count).fill(signalFor(tenant))
      const { statements } = await databaseWorkOf(() => service.store.signals.import(inBatches(signals)))
      return statements.filter((sql) => sql.startsWith('analyze ')).length
    }
    assert.deepEqual([await analyzed(999), await analyzed(1_000)], [0, 2])
  })
})
