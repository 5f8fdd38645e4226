import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAlert } from '../../../testing/alerts.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { openNotifier } from '../../../testing/notifier.ts'
import { openRegression } from '../../../testing/regressions.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { day, hour, minute } from '../../src/domain/time.ts'

onEachEngine('Taking care of a regression', (engine) => {
  const service = useService(engine)
  const pathOf = ({ path }: Tenant, id: number) => `${path}/regressions/${id}`
  const update = (tenant: Tenant, id: number, payload: object, headers = tenant.headers) =>
    service.app.inject({ method: 'PATCH', url: pathOf(tenant, id), headers, payload })
  const get = async (tenant: Tenant, id: number) =>
    (await service.app.inject({ url: pathOf(tenant, id), headers: tenant.headers })).json().data

  test('the author of the change is the owner, until another one is set; acknowledging and comments are remembered in order', async () => {
    const tenant = await service.tenant()
    const { id } = await openRegression(tenant, service.now)
    assert.equal((await get(tenant, id)).owner, 'ada@example.com')
    const until = new Date(service.now + day).toISOString()
    const changed = await update(tenant, id, { owner: 'Grace@example.com', comment: 'Looking.' })
    assert.equal(changed.statusCode, 200, changed.body)
    await update(tenant, id, { acknowledged: true, snoozed_until: until })
    const regression = await get(tenant, id)
    assert.deepEqual(
      [regression.owner, regression.acknowledged_by, regression.snoozed_until, regression.state],
      ['Grace@example.com', 'test', until, 'open'],
    )
    assert.deepEqual(
      regression.steps.map(({ by, action, text }: Record<string, string>) => [by, action, text]),
      [
        ['test', 'owner', 'Grace@example.com'],
        ['test', 'comment', 'Looking.'],
        ['test', 'acknowledged', null],
        ['test', 'snoozed', until],
      ],
    )
    const listed = async (owner: string) => {
      const url = `/api/v1/regressions?owner=${encodeURIComponent(owner)}`
      return (await service.app.inject({ url, headers: tenant.headers })).json().pagination.total_count
    }
    assert.deepEqual([await listed('grace@EXAMPLE.com'), await listed('ada@example.com')], [1, 0])
    await update(tenant, id, { owner: null })
    assert.equal((await get(tenant, id)).owner, 'ada@example.com')
  })

  test('an alert that repeats is quiet while a person takes care of it, and names who does', async () => {
    const tenant = await service.tenant()
    await addAlert(service, tenant.organisation.id, { repeatMs: hour })
    const { id } = await openRegression(tenant, service.now)
    const { notifier } = openNotifier(service)
    const told = async () => {
      const rows = `select message from alert_deliveries where organisation_id = ${tenant.organisation.id} order by id`
      return (await queryRows(service.url, rows)).map(({ message }) => JSON.parse(String(message)).prompts[0].owner)
    }
    const pass = async (ms: number) => {
      service.now += ms
      await notifier.round()
      await queryRows(service.url, "update alert_deliveries set state = 'sent', attempts = 1 where state = 'pending'")
    }
    await pass(20 * minute)
    await pass(hour)
    assert.deepEqual(await told(), ['ada@example.com', 'ada@example.com'])
    await update(tenant, id, { acknowledged: true, owner: 'grace@example.com' })
    await pass(2 * hour)
    assert.equal((await told()).length, 2)
    await update(tenant, id, { acknowledged: false, snoozed_until: new Date(service.now + 3 * hour).toISOString() })
    await pass(2 * hour)
    assert.equal((await told()).length, 2)
    await pass(2 * hour)
    assert.deepEqual((await told()).slice(2), ['grace@example.com'])
  })

  test('only people who may write take care of open regressions, with an address and a time that exist', async () => {
    const tenant = await service.tenant()
    const { id } = await openRegression(tenant, service.now)
    const reader = { authorization: `Bearer ${await service.key(tenant.organisation, 'reader')}` }
    assert.equal((await update(tenant, id, { acknowledged: true }, reader)).statusCode, 403)
    for (const body of [
      {},
      { owner: 'grace' },
      { snoozed_until: new Date(service.now).toISOString() },
      { comment: ' ' },
    ]) {
      assert.equal((await update(tenant, id, body)).statusCode, 422, JSON.stringify(body))
    }
    const other = await service.tenant()
    assert.equal((await update(other, id, { acknowledged: true })).statusCode, 404)
    await service.store.regressions.repair(tenant.prompt, id, { at: service.now, by: 'rate', entryId: null })
    assert.equal((await update(tenant, id, { acknowledged: true })).statusCode, 409)
    assert.deepEqual((await get(tenant, id)).steps, [])
  })
})
