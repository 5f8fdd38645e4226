import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { openTestStore, type Tenant, useService } from '../../../testing/service.ts'
import { inBatches, noDetails, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { eraseSignals, metadataQuery } from '../../src/domain/signals/erasure.ts'
import type { SignalDetails, SignalToRecord } from '../../src/domain/signals/signal.ts'
import type { Store } from '../../src/domain/store.ts'
import { day, hour, hourStart } from '../../src/domain/time.ts'

onEachEngine('Hourly sums of earlier days', (engine) => {
  const service = useService(engine)

  function voteFor(tenant: Tenant, details: Partial<SignalDetails>, changes: Partial<SignalToRecord> = {}) {
    return { ...signalFor(tenant), ...changes, details: { ...noDetails, ...details } }
  }

  /** Everything that may be remembered, as one store sees it. */
  async function read({ signals }: Store, { prompt, organisation }: Tenant) {
    const around = [{ promptId: prompt.id, at: service.now - 5 * day + hour / 2 }]
    const recent = [{ promptId: prompt.id, at: service.now - hour }]
    return {
      all: await signals.hourlySums(prompt, hourStart(service.now) + hour),
      until: await signals.hourlySums(prompt, hourStart(service.now) - 3 * day),
      around: await signals.hourlySumsAround(organisation.id, around, 2),
      recent: await signals.hourlySumsAround(organisation.id, recent, 2),
      byDay: await signals.tallyByInterval(prompt, { from: service.now - 29 * day, until: service.now + day }, 'day'),
      byWeek: await signals.tallyByInterval(prompt, { from: service.now - 29 * day, until: service.now + day }, 'week'),
      days: await signals.tallyByDay([prompt], service.now - 29 * day - (service.now % day)),
    }
  }

  /** A store that has read the sums before sees the change of another one as a new store does. */
  async function assertFollows(tenant: Tenant, change: (store: Store) => Promise<unknown>): Promise<void> {
    const clock = () => service.now
    const reader = await openTestStore(service.url, clock)
    const before = await read(reader, tenant)
    assert.deepEqual(await read(reader, tenant), before)
    await change(service.store)
    const fresh = await openTestStore(service.url, clock)
    const after = await read(fresh, tenant)
    assert.notDeepEqual(after, before)
    assert.deepEqual(await read(reader, tenant), after)
    await Promise.all([reader.close(), fresh.close()])
  }

  async function tenantWithVotes(): Promise<Tenant> {
    const tenant = await service.tenant('business')
    const votes = Array.from({ length: 40 }, (_, i) => ({
      ...signalFor(tenant),
      value: i % 3 === 0 ? ('negative' as const) : ('positive' as const),
      createdAt: service.now - i * 7 * hour,
    }))
    await service.store.signals.import(inBatches(votes))
    return tenant
  }

  test('include votes that arrive late', async () => {
    const tenant = await tenantWithVotes()
    for (const age of [hour, 26 * hour, 5 * day, 29 * day]) {
      const occurredAt = service.now - age
      await assertFollows(tenant, ({ signals }) => signals.record(voteFor(tenant, { occurredAt })))
      await assertFollows(tenant, ({ signals }) => signals.record(voteFor(tenant, { occurredAt, version: 'abcdef1' })))
    }
  })

  test('include votes that are recorded in the hours after midnight, on either side of it', async () => {
    const tenant = await service.tenant('business')
    const noon = service.now
    const midnight = noon - (noon % day) + day
    for (const after of [-10 * 60_000, 1_000, 2 * hour, 3 * hour, 4 * hour]) {
      service.now = midnight + after
      await assertFollows(tenant, ({ signals }) => signals.record({ ...signalFor(tenant), createdAt: service.now }))
      const occurredAt = midnight - hour
      await assertFollows(tenant, ({ signals }) => signals.record(voteFor(tenant, { occurredAt })))
    }
    service.now = noon
  })

  test('include what happened to votes of earlier days: replaced, withdrawn, deleted, erased, imported', async () => {
    const tenant = await tenantWithVotes()
    const { prompt } = tenant
    const occurredAt = service.now - 6 * day
    const vote = await service.store.signals.record(voteFor(tenant, { occurredAt, subject: 'a' }))
    assert.ok(vote.kind === 'recorded')
    await assertFollows(tenant, ({ signals }) =>
      signals.record(voteFor(tenant, { subject: 'a' }, { value: 'negative' })),
    )
    await assertFollows(tenant, ({ signals }) => signals.record(voteFor(tenant, { subject: 'a' }, { value: null })))
    await assertFollows(tenant, ({ signals }) => signals.record(voteFor(tenant, { subject: 'a' })))
    await assertFollows(tenant, ({ signals }) => signals.delete(prompt, vote.id, service.now, operator))
    await service.store.signals.record(voteFor(tenant, { occurredAt }, { metadata: '{"user":"u-1"}' }))
    await assertFollows(tenant, ({ signals }) =>
      eraseSignals(
        signals,
        { organisationId: tenant.organisation.id, keyId: 1 },
        metadataQuery('{"user":"u-1"}'),
        service.now,
      ),
    )
    const imported = { ...signalFor(tenant), createdAt: occurredAt }
    await assertFollows(tenant, ({ signals }) => signals.import(inBatches([imported])))
  })
})
