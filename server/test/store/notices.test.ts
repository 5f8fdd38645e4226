import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { figures, openRegression } from '../../../testing/regressions.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import type { Prompt } from '../../src/domain/prompt.ts'

onEachEngine('The notice about a change', (engine) => {
  const service = useService(engine)

  const noticesOf = ({ organisation }: Tenant) =>
    queryRows(
      service.url,
      `select id, kind, subject, state, round, changes, opened_at, ended_at, due_at,
         (select count(*) from notice_regressions n where n.notice_id = notices.id) as regressions
       from notices where organisation_id = ${organisation.id} order by id`,
    )

  const statesOf = async (tenant: Tenant) =>
    (await noticesOf(tenant)).map(({ state, round, opened_at, ended_at, due_at }) =>
      [state, round, opened_at, ended_at, due_at].map((value) =>
        typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value,
      ),
    )

  test('it opens and ends in the transaction of its regression, and counts how often it opened', async () => {
    const tenant = await service.tenant()
    const { regressions } = service.store
    const { prompt, entry, id } = await openRegression(tenant, 100)
    assert.deepEqual(await statesOf(tenant), [['open', 1, 100, null, 100]])
    await regressions.open(prompt, entry, figures, 105)
    assert.deepEqual(await statesOf(tenant), [['open', 1, 100, null, 100]], 'it is open already')
    await regressions.update(prompt, id, { ...figures, difference: -0.2 })
    assert.deepEqual(await statesOf(tenant), [['open', 1, 100, null, 0]], 'it is decided again with the new figures')
    await regressions.repair(prompt, id, { at: 110, by: 'rate', entryId: null })
    assert.deepEqual(await statesOf(tenant), [['ended', 1, 100, 110, 110]])
    await regressions.repair(prompt, id, { at: 115, by: 'rate', entryId: null })
    assert.deepEqual(await statesOf(tenant), [['ended', 1, 100, 110, 110]], 'it was repaired already')
    await regressions.reopen(prompt, id, figures, 120)
    assert.deepEqual(await statesOf(tenant), [['open', 2, 120, null, 120]])
    await regressions.withdraw(prompt, id, { at: 130, explanation: 'Taken back.' })
    assert.deepEqual(await statesOf(tenant), [['ended', 2, 120, 130, 130]])
    await regressions.reopen(prompt, id, figures, 140)
    const { keyId } = (await service.store.keys.list(tenant.organisation.id)).map(({ id }) => ({ keyId: id }))[0] as {
      keyId: number
    }
    await regressions.dismiss(prompt, id, 'On purpose.', 150, { keyId })
    assert.deepEqual(await statesOf(tenant), [['ended', 3, 140, 150, 150]])
    await regressions.dismiss(prompt, id, 'Again.', 160, { keyId })
    assert.deepEqual(await statesOf(tenant), [['ended', 3, 140, 150, 150]])
  })

  test('prompts of one commit share it, and it ends with the last of them', async () => {
    const tenant = await service.tenant()
    const other = await service.prompt(tenant.organisation, 'other')
    const [one, two] = [await openRegression(tenant, 100), await openRegression(tenant, 107, { prompt: other })]
    const [notice, ...more] = await noticesOf(tenant)
    assert.deepEqual(more, [])
    assert.equal(notice?.subject, `commit/${'c'.repeat(40)}`)
    assert.equal(Number(notice?.regressions), 2)
    assert.deepEqual(await statesOf(tenant), [['open', 1, 100, null, 107]])
    const { regressions } = service.store
    await regressions.repair(one.prompt, one.id, { at: 110, by: 'rate', entryId: null })
    assert.deepEqual(await statesOf(tenant), [['open', 1, 100, null, 110]])
    await regressions.repair(two.prompt, two.id, { at: 120, by: 'rate', entryId: null })
    assert.deepEqual(await statesOf(tenant), [['ended', 1, 100, 120, 120]])
  })

  test('a failed change of the regression leaves no notice, and two processes that open it leave one', async () => {
    const tenant = await service.tenant()
    const { prompt, entry, id } = await openRegression(tenant, 100)
    await queryRows(service.url, `delete from regressions where id = ${id}`)
    await queryRows(service.url, `delete from notices where organisation_id = ${tenant.organisation.id}`)
    await Promise.all([1, 2, 3, 4].map(() => service.store.regressions.open(prompt, entry, figures, 200)))
    assert.deepEqual(await statesOf(tenant), [['open', 1, 200, null, 200]])
    assert.equal(Number((await noticesOf(tenant))[0]?.changes), 0)
  })

  test('a regression from before notices existed gets one when it opens again', async () => {
    const tenant = await service.tenant()
    const { prompt, id } = await openRegression(tenant, 100)
    const { regressions } = service.store
    await regressions.repair(prompt, id, { at: 110, by: 'rate', entryId: null })
    await queryRows(service.url, `delete from notice_regressions where organisation_id = ${tenant.organisation.id}`)
    await queryRows(service.url, `delete from notices where organisation_id = ${tenant.organisation.id}`)
    await regressions.reopen(prompt, id, figures, 120)
    assert.deepEqual(await statesOf(tenant), [['open', 1, 120, null, 120]])
  })

  test('deleting a prompt makes it due, so that incidents about the prompt are closed', async () => {
    const tenant = await service.tenant()
    const { prompt } = await openRegression(tenant, 100)
    await queryRows(service.url, `update notices set due_at = null where organisation_id = ${tenant.organisation.id}`)
    await service.store.prompts.delete(prompt as Prompt, 300, null)
    assert.deepEqual((await statesOf(tenant))[0]?.at(-1), 300)
  })
})
