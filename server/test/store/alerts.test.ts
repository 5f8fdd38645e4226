import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAlert, addDelivery, defaultRules } from '../../../testing/alerts.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { type Alert, maxAlerts } from '../../src/domain/alerts/alert.ts'

onEachEngine('The store of alerts', (engine) => {
  const service = useService(engine)

  const auditOf = async ({ organisationId }: Alert) => {
    const filter = { action: null, actor: null, since: null, until: null }
    const { entries } = await service.store.audit.page(organisationId, filter, { page: '1', limit: 100 })
    return entries
      .filter(({ action }) => action.startsWith('alert.'))
      .map(({ action, subject, details }) => ({ action, subject: subject.name, details }))
      .reverse()
  }

  test('an alert is read back as it was added, changed and rotated, and each change is in the audit log', async () => {
    const { alerts } = service.store
    const { organisation } = await service.tenant()
    const added = await addAlert(service, organisation.id, { prompts: 'support/*', repeatMs: 7_200_000 })
    assert.deepEqual(await alerts.list(organisation.id), [added])
    assert.deepEqual(await alerts.find(organisation.id, added.publicId), added)
    assert.deepEqual(await alerts.findInAnyOrganisation(added.publicId), added)
    assert.deepEqual([added.prompts, added.repeatMs, added.events], ['support/*', 7_200_000, defaultRules.events])

    const changes = {
      ...added,
      name: 'Team',
      events: ['limit.near' as const],
      repeatMs: null,
      disabledReason: 'On leave',
    }
    const updated = await alerts.update(added, { ...changes, disabledAt: 5 }, service.now, operator)
    assert.deepEqual(updated, { ...changes, disabledAt: 5 })
    const rotated = await alerts.rotateSecret(added, { sealed: 'v2:new', oldUntil: 9 }, service.now, operator)
    assert.deepEqual(rotated, {
      ...updated,
      sealedSecret: 'v2:new',
      sealedOldSecret: added.sealedSecret,
      oldSecretUntil: 9,
    })
    await alerts.remove(added, service.now, operator)
    assert.deepEqual(await alerts.list(organisation.id), [])
    assert.equal(await alerts.update(added, changes, service.now, operator), null)
    assert.equal(await alerts.rotateSecret(added, { sealed: 'v2:new', oldUntil: 9 }, service.now, operator), null)
    await alerts.remove(added, service.now, operator)
    assert.deepEqual(await auditOf(added), [
      { action: 'alert.added', subject: 'On call', details: { channel: 'webhook', target: 'hooks.example' } },
      {
        action: 'alert.updated',
        subject: 'On call',
        details: { name: 'Team', events: 'limit.near', repeat_ms: 'never', state: 'disabled' },
      },
      {
        action: 'alert.secret_rotated',
        subject: 'On call',
        details: { old_secret_until: '1970-01-01T00:00:00.009Z' },
      },
      { action: 'alert.removed', subject: 'On call', details: null },
    ])
  })

  test('an update keeps what was changed since the alert was read', async () => {
    const { alerts } = service.store
    const { organisation } = await service.tenant()
    const read = await addAlert(service, organisation.id)
    await alerts.update(read, { ...read, sealedTarget: 'v2:moved', hint: 'new.example' }, service.now, operator)
    await alerts.disable(read, 'The receiver responded with 410.', 78)
    const updated = await alerts.update(read, { ...read, name: 'Team' }, service.now, operator)
    assert.deepEqual(
      [updated?.name, updated?.sealedTarget, updated?.hint, updated?.disabledAt],
      ['Team', 'v2:moved', 'new.example', 78],
    )
    assert.deepEqual(await alerts.update(read, read, service.now, operator), updated)
  })

  test('alerts of another organisation cannot be found, changed or removed', async () => {
    const { alerts } = service.store
    const [one, two] = [await service.tenant(), await service.tenant()]
    const alert = await addAlert(service, one.organisation.id)
    const stolen = { ...alert, organisationId: two.organisation.id }
    assert.equal(await alerts.find(two.organisation.id, alert.publicId), null)
    assert.equal(await alerts.update(stolen, { ...alert, name: 'Mine' }, service.now, operator), null)
    await alerts.remove(stolen, service.now, operator)
    await alerts.disable(stolen, 'gone', service.now)
    assert.deepEqual(await alerts.list(one.organisation.id), [alert])
    assert.deepEqual(await auditOf(stolen), [])
  })

  test('an organisation has at most twenty alerts, however many are added at once', async () => {
    const { organisation } = await service.tenant()
    const added = await Promise.allSettled(
      Array.from({ length: maxAlerts + 5 }, () => addAlert(service, organisation.id)),
    )
    assert.equal(added.filter(({ status }) => status === 'fulfilled').length, maxAlerts)
    assert.equal((await service.store.alerts.list(organisation.id)).length, maxAlerts)
    await assert.rejects(addAlert(service, organisation.id), { code: 'conflict', message: /already has 20 alerts/ })
  })

  test('removing or disabling an alert cancels what waits for it, and says why', async () => {
    const { alerts, alertDeliveries } = service.store
    const { organisation } = await service.tenant()
    const request = { page: '1', limit: 10 }
    const [removed, disabled, paused, other] = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => addAlert(service, organisation.id, { name })),
    )
    for (const alert of [removed, disabled, paused, other] as Alert[]) {
      await addDelivery(service, alert)
      await addDelivery(service, alert, { state: 'sent', finished_at: 1 })
    }
    await alerts.remove(removed as Alert, 77, operator)
    await alerts.disable(disabled as Alert, 'The receiver responded with 410 Gone.', 78)
    await alerts.update(paused as Alert, { ...(paused as Alert), disabledAt: 79 }, 79, operator)
    const states = async (alert: Alert) => {
      const { deliveries } = await alertDeliveries.page(organisation.id, alert.id, request)
      return deliveries.map(({ state, error, finishedAt }) => [state, error, finishedAt])
    }
    assert.deepEqual(await states(removed as Alert), [
      ['sent', null, 1],
      ['cancelled', 'The alert was removed.', 77],
    ])
    assert.deepEqual(await states(disabled as Alert), [
      ['sent', null, 1],
      ['cancelled', 'The alert is disabled.', 78],
    ])
    assert.deepEqual(await states(paused as Alert), [
      ['sent', null, 1],
      ['cancelled', 'The alert is disabled.', 79],
    ])
    assert.deepEqual((await states(other as Alert)).at(-1), ['pending', null, null])
    const found = await alerts.find(organisation.id, (disabled as Alert).publicId)
    assert.deepEqual([found?.disabledAt, found?.disabledReason], [78, 'The receiver responded with 410 Gone.'])
    const all = await alertDeliveries.page(organisation.id, null, { page: '2', limit: 3 })
    assert.equal(all.totalCount, 8)
    assert.deepEqual(
      all.deliveries.map(({ alert }) => alert?.name ?? null),
      ['c', 'b', 'b'],
    )
  })

  test('a failed delivery becomes pending again once, and one of another organisation is not found', async () => {
    const { alertDeliveries } = service.store
    const [one, two] = [await service.tenant(), await service.tenant()]
    const alert = await addAlert(service, one.organisation.id)
    const values = { state: 'failed', attempts: 11, error: 'HTTP 500', finished_at: 3, lease_owner: 'x' }
    const failed = await addDelivery(service, alert, values)
    const sent = await addDelivery(service, alert, { state: 'sent', finished_at: 4 })
    const delivery = await alertDeliveries.find(one.organisation.id, failed)
    assert.ok(delivery !== null)
    assert.deepEqual(delivery.alert, { publicId: alert.publicId, name: 'On call', channel: 'webhook' })
    assert.equal(await alertDeliveries.find(two.organisation.id, failed), null)
    const retried = await alertDeliveries.retry(delivery, 99, operator)
    assert.deepEqual(
      [retried?.state, retried?.attempts, retried?.dueAt, retried?.finishedAt, retried?.publicId],
      ['pending', 0, 99, null, failed],
    )
    assert.equal(await alertDeliveries.retry(delivery, 100, operator), null)
    const newest = await alertDeliveries.newestOfEach(one.organisation.id)
    assert.deepEqual(
      newest.map(({ publicId }) => publicId),
      [sent],
    )
    assert.deepEqual(await alertDeliveries.newestOfEach(two.organisation.id), [])
  })

  test('a failed message is not retried after a later one about the same', async () => {
    const { alertDeliveries } = service.store
    const { organisation } = await service.tenant()
    const [alert, other] = [await addAlert(service, organisation.id), await addAlert(service, organisation.id)]
    const failed = { event: 'regression.opened', state: 'failed', finished_at: 3, notice_id: 7 }
    const [outdated, current] = [await addDelivery(service, alert, failed), await addDelivery(service, other, failed)]
    await addDelivery(service, alert, {
      event: 'regression.repaired',
      state: 'cancelled',
      finished_at: 4,
      notice_id: 7,
    })
    const retried = async (publicId: string) => {
      const delivery = await alertDeliveries.find(organisation.id, publicId)
      assert.ok(delivery !== null)
      return alertDeliveries.retry(delivery, 99, operator)
    }
    assert.equal(await retried(outdated), null)
    assert.equal((await retried(current))?.state, 'pending')
  })
})
