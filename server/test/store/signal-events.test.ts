import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAlert } from '../../../testing/alerts.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, type Tenant, useService } from '../../../testing/service.ts'
import { inBatches, noDetails, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { Alert } from '../../src/domain/alerts/alert.ts'
import type { SignalEvent } from '../../src/domain/alerts/signal-event.ts'
import { startErasure } from '../../src/domain/signals/erasure.ts'
import type { SignalDetails, SignalToRecord } from '../../src/domain/signals/signal.ts'
import { day, minute } from '../../src/domain/time.ts'

onEachEngine('The queue of signals for a webhook', (engine) => {
  const service = useService(engine)

  const addWebhook = ({ organisation }: Tenant) =>
    addAlert(service, organisation.id, { channel: 'cloudevents', signals: true })

  const vote = (tenant: Tenant, value: SignalToRecord['value'], details: Partial<SignalDetails> = {}) => ({
    ...signalFor(tenant),
    value,
    details: { ...noDetails, subject: 'answer', ...details },
  })

  const waiting = ({ organisation }: Tenant): Promise<SignalEvent[]> =>
    service.store.signalEvents.read(organisation.id, 0, 1_000)

  const kinds = async (tenant: Tenant) => (await waiting(tenant)).map(({ kind }) => kind)

  const record = async (signal: SignalToRecord): Promise<number> => {
    const outcome = await service.store.signals.record(signal)
    assert.ok('id' in outcome, outcome.kind)
    return outcome.id
  }

  const claim = async (alert: Alert) => {
    const claimed = await service.store.signalEvents.claim(alert, 'me', service.now, service.now + minute)
    assert.ok(claimed !== null)
    return claimed
  }

  test('a signal is queued with its transaction, and only where a webhook gets signals', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    await record(signalFor(tenant))
    await addWebhook(tenant)
    await addAlert(service, other.organisation.id, { channel: 'cloudevents' })
    const [, id] = [
      await record(signalFor(other)),
      await record({ ...vote(tenant, 'positive', { comment: 'good', version: 'abcdef1' }), metadata: '{"a": 1}' }),
    ]
    assert.deepEqual(
      await queryRows(service.url, `select 1 from signal_events where organisation_id = ${other.organisation.id}`),
      [],
    )
    const [event, ...others] = await waiting(tenant)
    assert.match(event?.id ?? '', /^evt_[0-9A-Za-z]{24}$/)
    const { publicId, name, path } = tenant.prompt
    const { signals } = await service.store.signals.page(
      tenant.prompt,
      { value: null, since: null, until: null },
      { page: '1', limit: 1 },
    )
    assert.deepEqual(
      { ...event, id: '' },
      { id: '', kind: 'recorded', at: service.now, signalId: id, prompt: { publicId, name, path }, signal: signals[0] },
    )
    assert.deepEqual(others, [])
  })

  test('a request that stores nothing queues nothing', async () => {
    const tenant = await service.tenant()
    await addWebhook(tenant)
    const keyed = signalFor(tenant, { limit: 1, idempotency: { key: 'k', fingerprint: 'f' } })
    const outcomes = [
      await service.store.signals.record(keyed),
      await service.store.signals.record(keyed),
      await service.store.signals.record(signalFor(tenant, { limit: 1 })),
      await service.store.signals.record(vote(tenant, null)),
    ]
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['recorded', 'repeated', 'over_limit', 'unknown_subject'],
    )
    assert.deepEqual(await kinds(tenant), ['recorded'])
  })

  test('a signal that changes again while it waits is queued once, as it is then, also if it moves in time', async () => {
    const tenant = await service.tenant()
    const webhook = await addWebhook(tenant)
    const id = await record(vote(tenant, 'positive'))
    const [first] = await waiting(tenant)
    for (const [value, occurredAt, kind] of [
      ['negative', null, 'replaced'],
      ['negative', service.now - 40 * day, 'replaced'],
      [null, null, 'withdrawn'],
      ['positive', service.now, 'replaced'],
    ] as const) {
      assert.equal(await record(vote(tenant, value, { occurredAt })), id)
      const [event, ...others] = await waiting(tenant)
      assert.deepEqual([event?.kind, event?.signal?.value ?? null, others], [kind, value, []])
    }
    const [last] = await waiting(tenant)
    await service.store.signalEvents.finish(await claim(webhook), [first as SignalEvent], { attempts: 0, dueAt: 0 })
    assert.deepEqual(await waiting(tenant), [last], 'what was acknowledged is an earlier state')
    await service.store.signalEvents.finish(await claim(webhook), [last as SignalEvent], { attempts: 0, dueAt: 0 })
    assert.deepEqual(await waiting(tenant), [])
  })

  test('a withdrawal of a vote that is withdrawn already is not queued again', async () => {
    const tenant = await service.tenant()
    const webhook = await addWebhook(tenant)
    for (const value of ['positive', null] as const) await record(vote(tenant, value))
    await service.store.signalEvents.finish(await claim(webhook), await waiting(tenant), { attempts: 0, dueAt: 0 })
    await record(vote(tenant, null))
    assert.deepEqual(await waiting(tenant), [])
  })

  test('deleting and erasing queue only IDs, in place of what waits about the same signal', async () => {
    const tenant = await service.tenant()
    await addWebhook(tenant)
    const { organisation, prompt } = tenant
    const [deleted, ofVoter, onSubject, withdrawn, kept] = [
      await record(signalFor(tenant, { metadata: '{"user":"u-1"}' })),
      await record(vote(tenant, 'positive', { subject: 'b', voter: 'v'.repeat(43) })),
      await record(vote(tenant, 'positive', { subject: 'c' })),
      await record(vote(tenant, 'positive', { subject: 'd' })),
      await record(signalFor(tenant)),
    ]
    await record(vote(tenant, null, { subject: 'd' }))
    await service.store.signals.delete(prompt, deleted, service.now + 1, operator)
    const queries = [{ voter: 'v'.repeat(43) }, { subject: 'c' }, { subject: 'd' }]
    for (const query of queries) {
      const erasure = startErasure(organisation.id, operator, service.now + 1)
      assert.equal((await service.store.signals.eraseNextBatch(erasure, query)).erased, 1)
    }
    assert.deepEqual(
      (await waiting(tenant)).map(({ signalId, kind, at, signal }) => [signalId, kind, at - service.now, signal?.id]),
      [
        ...[deleted, ofVoter, onSubject, withdrawn].map((id) => [id, 'erased', 1, undefined]),
        [kept, 'recorded', 0, kept],
      ],
    )
  })

  test('imports and retention queue nothing, and a signal that retention has removed has no content left', async () => {
    const tenant = await service.tenant()
    await addWebhook(tenant)
    await service.store.signals.import(inBatches([signalFor(tenant)]))
    assert.deepEqual(await waiting(tenant), [])
    await record(signalFor(tenant))
    await queryRows(service.url, `delete from signals where organisation_id = ${tenant.organisation.id}`)
    assert.deepEqual(
      (await waiting(tenant)).map(({ kind, signal }) => [kind, signal]),
      [['recorded', null]],
    )
  })

  test('an organisation has one webhook for signals, however many are added at once', async () => {
    const tenant = await service.tenant()
    const plain = await addAlert(service, tenant.organisation.id, { channel: 'cloudevents' })
    const added = await Promise.allSettled([1, 2, 3].map(() => addWebhook(tenant)))
    assert.equal(added.filter(({ status }) => status === 'fulfilled').length, 1)
    const refused = { code: 'conflict', message: /already gets signals/ }
    await assert.rejects(addWebhook(tenant), refused)
    await assert.rejects(
      service.store.alerts.update(plain, { ...plain, signals: true }, service.now, operator),
      refused,
    )
  })

  test('what waits is deleted with the end of the webhook, and nothing is queued until the next one, by any process', async () => {
    const tenant = await service.tenant()
    const { alerts } = service.store
    const webhook = await addWebhook(tenant)
    const other = await openTestStore(service.url, () => service.now)
    const off = { ...webhook, signals: false }
    const disabled = { ...webhook, disabledAt: 1, disabledReason: 'Later' }
    const switches = [
      () => alerts.update(webhook, off, service.now, operator),
      () => alerts.update(off, webhook, service.now, operator),
      () => alerts.update(webhook, disabled, service.now, operator),
      () => alerts.update(disabled, webhook, service.now, operator),
      () => alerts.disable(webhook, 'Gone', service.now),
      () => alerts.update(disabled, webhook, service.now, operator),
      () => alerts.remove(webhook, service.now, operator),
    ]
    for (const [i, change] of switches.entries()) {
      for (const { signals } of [service.store, other]) await signals.record(signalFor(tenant))
      assert.equal((await waiting(tenant)).length, i % 2 === 0 ? 2 : 0, `before change ${i}`)
      const generation = other.cacheGeneration()
      await change()
      assert.deepEqual(await waiting(tenant), [], `after change ${i}`)
      await eventually(async () => {
        await other.refresh()
        assert.notEqual(other.cacheGeneration(), generation)
      })
    }
    for (const { signals } of [service.store, other]) await signals.record(signalFor(tenant))
    assert.deepEqual(await waiting(tenant), [])
  })

  test('one process sends to a webhook at a time, until its lease ends', async () => {
    const tenant = await service.tenant()
    const webhook = await addWebhook(tenant)
    const other = await openTestStore(service.url, () => service.now)
    const { now } = service
    const claims = await Promise.all(
      [service.store, other].map(({ signalEvents }, i) => signalEvents.claim(webhook, `p${i}`, now, now + minute)),
    )
    const [first] = claims.filter((claimed) => claimed !== null)
    assert.ok(first !== undefined && claims.includes(null))
    const next = await other.signalEvents.claim(webhook, 'late', now + minute, now + 2 * minute)
    assert.ok(next !== null, 'the lease has ended')
    await service.store.signalEvents.finish(first, [], { attempts: 7, dueAt: now })
    assert.equal(await other.signalEvents.claim(webhook, 'early', now + minute, now + 2 * minute), null)
    assert.equal(await other.signalEvents.countFailing(), 0)
    await other.signalEvents.finish(next, [], { attempts: 3, dueAt: now + 5 })
    assert.equal(await other.signalEvents.countFailing(), 1)
    assert.equal(await other.signalEvents.claim(webhook, 'early', now, now + minute), null)
    assert.equal((await other.signalEvents.claim(webhook, 'due', now + 5, now + minute))?.attempts, 3)
  })
})
