import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ShiftDetailsBody } from '../../../contract/shifts.ts'
import { addAlert } from '../../../testing/alerts.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { openNotifier } from '../../../testing/notifier.ts'
import { openRegression } from '../../../testing/regressions.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { contentOf } from '../../src/alerts/text.ts'
import type { Candidates } from '../../src/domain/shifts/shift.ts'
import { storeShifts } from '../../src/domain/shifts/store-shifts.ts'
import { day, hour, minute } from '../../src/domain/time.ts'

onEachEngine('Taking care of a regression or a shift', (engine) => {
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

  const shift = (at: number, rates: [number, number] = [0.9, 0.7]) => ({
    at,
    between: [at - hour, at + hour] as [number, number],
    rateBefore: rates[0],
    rateAfter: rates[1],
    entryId: null as number | null,
    sharedWith: null as number | null,
    candidates: null as Candidates | null,
    foundAt: at + hour,
  })
  const shiftsOf = async (tenant: Tenant, query = '') =>
    (await service.app.inject({ url: `/api/v1/shifts${query}`, headers: tenant.headers })).json()
      .data as ShiftDetailsBody[]
  const aboutShift = (tenant: Tenant, id: string, payload: object, { method = 'PATCH', end = '' } = {}) =>
    service.app.inject({
      ...{ method: method as 'PATCH', url: `${tenant.path}/shifts/${id}${end}`, headers: tenant.headers, payload },
    })
  const getShift = async (tenant: Tenant, id: string) =>
    (await service.app.inject({ url: `${tenant.path}/shifts/${id}`, headers: tenant.headers })).json().data

  /** As the judge does it. */
  const judge = async ({ prompt }: Pick<Tenant, 'prompt'>, found: Parameters<typeof storeShifts>[2]) => {
    const { shifts } = service.store
    await storeShifts(shifts, prompt, found, await shifts.ofPrompt(prompt), service.now)
  }

  test('an unexplained shift keeps its owner, comments and state while votes move it, hide it and show it again', async () => {
    const tenant = await service.tenant()
    const at = service.now - 5 * day
    await judge(tenant, [shift(at)])
    const [found] = await shiftsOf(tenant, '?state=open')
    const id = found?.id as string
    assert.deepEqual([found?.state, found?.owner], ['open', null])
    const response = await aboutShift(tenant, id, {
      owner: 'Grace@example.com',
      acknowledged: true,
      comment: 'The new model?',
    })
    assert.equal(response.statusCode, 200, response.body)
    await judge(tenant, [shift(at - 20 * minute, [0.91, 0.7]), shift(at + 2 * day, [0.7, 0.6])])
    const moved = await shiftsOf(tenant, '?owner=grace@EXAMPLE.com')
    assert.deepEqual(
      moved.map((each) => [each.id, each.rate_before, each.acknowledged_by, each.found_at]),
      [[id, 0.91, 'test', found?.found_at]],
    )
    assert.equal(new Set((await shiftsOf(tenant)).map((each) => each.id)).size, 2)

    await judge(tenant, [])
    assert.deepEqual(await shiftsOf(tenant), [])
    const [withdrawn, ...others] = await shiftsOf(tenant, '?state=withdrawn')
    assert.deepEqual([withdrawn?.id, withdrawn?.state, others], [id, 'withdrawn', []])
    assert.equal((await aboutShift(tenant, id, { acknowledged: false })).statusCode, 409)
    const gone = await getShift(tenant, id)
    assert.deepEqual(
      gone.steps.map(({ by, action, text }: Record<string, string>) => [by, action, text]),
      [
        ['test', 'owner', 'Grace@example.com'],
        ['test', 'acknowledged', null],
        ['test', 'comment', 'The new model?'],
      ],
    )
    await judge(tenant, [shift(at + 30 * minute)])
    const again = await getShift(tenant, id)
    assert.deepEqual([again.state, again.owner, again.steps.length], ['open', 'Grace@example.com', 3])
  })

  test('a dismissed shift keeps its ID while votes move it, but does not hide one that goes clearly further', async () => {
    const at = service.now - 20 * day
    const wide = (rates: [number, number]) => ({
      ...shift(at, rates),
      between: [at - 3 * day, at + 3 * day] as [number, number],
    })
    const edge = (rates: [number, number]) => shift(at + 3 * day, rates)
    const cases = [
      // The decided shift, what the judge finds afterwards, one after the other, and whether the last one is still the same.
      { decided: wide([0.9, 0.85]), found: [edge([0.9, 0.4])], isSame: false },
      { decided: wide([0.9, 0.85]), found: [wide([0.9, 0.82]), wide([0.9, 0.79])], isSame: false },
      { decided: wide([0.9, 0.85]), found: [wide([0.91, 0.81])], isSame: true },
      { decided: wide([0.9, 0.6]), found: [edge([0.9, 0.52])], isSame: true },
      { decided: wide([0.9, 0.6]), found: [edge([0.9, 0.48])], isSame: false },
      { decided: wide([0.9, 0.6]), found: [edge([0.9, 0.8])], isSame: true },
      { decided: wide([0.5, 0.55]), found: [edge([0.5, 0.9])], isSame: false },
      { decided: wide([0.5, 0.55]), found: [edge([0.5, 0.58])], isSame: true },
    ]
    for (const { decided, found, isSame } of cases) {
      const tenant = await service.tenant()
      await judge(tenant, [decided])
      const { id } = (await shiftsOf(tenant))[0] as ShiftDetailsBody
      await aboutShift(tenant, id, { note: 'Expected.' }, { method: 'POST', end: '/dismiss' })
      service.now += minute
      for (const one of found) await judge(tenant, [one])
      // Once more, as with the next vote.
      await judge(tenant, found.slice(-1))
      const news = await shiftsOf(tenant, `?found_since=${new Date(service.now).toISOString()}`)
      const told = await service.store.notices.unexplainedFalls(tenant.organisation.id, service.now)
      assert.deepEqual(
        [(await getShift(tenant, id)).state, news.map(({ state }) => state), told.length],
        isSame ? ['dismissed', [], 0] : ['withdrawn', ['open'], decided.rateAfter < decided.rateBefore ? 1 : 0],
        JSON.stringify([decided, found]),
      )
    }
  })

  test('a prompt with the number that an imported one had before does not take over the triage of its shifts', async () => {
    const tenant = await service.tenant()
    const imported = await service.prompt(tenant.organisation, 'imported')
    const { prompt } = tenant
    const moved = shift(service.now - day)
    // As in the database that it was exported from.
    await judge({ prompt: { ...imported, id: prompt.id } }, [moved])
    await queryRows(service.url, `update shifts set prompt_id = ${imported.id} where prompt_id = ${prompt.id}`)
    await judge(tenant, [moved])
    for (const [{ publicId }, owner] of [
      [imported, 'ada@example.com'],
      [prompt, 'grace@example.com'],
    ] as const) {
      const id = (await shiftsOf(tenant)).find((each) => each.prompt.id === publicId)?.id
      const url = `/api/v1/prompts/${publicId}/shifts/${id}`
      await service.app.inject({ method: 'PATCH', url, headers: tenant.headers, payload: { owner } })
    }
    const owners = (await shiftsOf(tenant)).map((each) => [each.prompt.id, each.owner])
    assert.deepEqual(Object.fromEntries(owners), {
      [imported.publicId]: 'ada@example.com',
      [prompt.publicId]: 'grace@example.com',
    })
  })

  test('two shifts where one was before have two IDs, and the nearest keeps the one that is known', async () => {
    const tenant = await service.tenant()
    const at = service.now - 5 * day
    await judge(tenant, [{ ...shift(at), between: [at - day, at + day] }])
    const [known] = await shiftsOf(tenant)
    await judge(tenant, [shift(at - 10 * hour), shift(at + hour, [0.7, 0.6])])
    const [near, far] = await shiftsOf(tenant)
    assert.equal(near?.id, known?.id)
    assert.notEqual(far?.id, known?.id)
    // One that is found where the known one was at first gets another ID.
    await judge(tenant, [{ ...shift(at, [0.6, 0.9]), between: [at, at] }, shift(at + day)])
    assert.equal(new Set([known?.id, ...(await shiftsOf(tenant)).map(({ id }) => id)]).size, 3)
  })

  test('a shift is repaired when the rate moves back, dismissed with a reason, and not for people if a change explains it', async () => {
    const tenant = await service.tenant()
    const { entry } = await openRegression(tenant, service.now)
    const [fall, back, expected, explained] = [9, 7, 5, 3].map((days) => service.now - days * day) as [
      ...[number, number, number, number],
    ]
    await judge(tenant, [
      shift(fall, [0.9, 0.6]),
      shift(back, [0.6, 0.85]),
      shift(expected, [0.85, 0.4]),
      { ...shift(explained, [0.4, 0.3]), entryId: entry.id },
    ])
    const all = await shiftsOf(tenant)
    assert.deepEqual(
      all.map(({ state }) => state),
      [null, 'open', 'repaired', 'repaired'],
    )
    assert.equal(all[3]?.repaired_at, new Date(back).toISOString())
    const dismiss = (id: string, note: string) => aboutShift(tenant, id, { note }, { method: 'POST', end: '/dismiss' })
    for (const { id } of [all[0], all[3]] as ShiftDetailsBody[]) {
      assert.equal((await dismiss(id, 'Expected.')).statusCode, 409)
    }
    const { id } = all[1] as ShiftDetailsBody
    assert.equal((await dismiss(id, ' ')).statusCode, 422)
    assert.equal((await dismiss(id, 'New users joined.')).json().data.state, 'dismissed')
    const twice = (await dismiss(id, 'Another reason.')).json().data
    assert.deepEqual([twice.note, twice.dismissed_by], ['New users joined.', 'test'])
    assert.equal((await aboutShift(tenant, id, { acknowledged: true })).statusCode, 409)
    assert.deepEqual(await shiftsOf(tenant, '?state=open'), [])
    assert.equal((await shiftsOf(tenant, '?state=dismissed'))[0]?.id, id)
    assert.equal((await shiftsOf(tenant, '?state=repaired')).length, 2)
  })

  test('the author of the only possible cause owns a shift; no one does if there are several, or other prompts moved too', async () => {
    const tenant = await service.tenant()
    const { entry } = await openRegression(tenant, service.now)
    const candidates = (count: number) => ({ count, changes: [{ entryId: entry.id, share: 1 }] })
    const times = [6, 4, 2].map((days) => service.now - days * day) as [number, number, number]
    await service.store.shifts.replace(tenant.prompt, [
      { ...shift(times[0]), entryId: entry.id, candidates: candidates(1) },
      { ...shift(times[1]), entryId: entry.id, candidates: candidates(12) },
      { ...shift(times[2]), entryId: entry.id, candidates: candidates(1), sharedWith: 4 },
    ])
    const owners = (await shiftsOf(tenant)).map(({ owner }) => owner)
    assert.deepEqual(owners, [null, null, 'ada@example.com'])
    assert.equal((await shiftsOf(tenant, '?owner=ADA@example.com')).length, 1)
  })

  test('an alert about a shift names its owner and its page, and is not sent while a person takes care of all of it', async () => {
    const tenant = await service.tenant()
    const other = await service.prompt(tenant.organisation, 'other')
    await addAlert(service, tenant.organisation.id, { holdMs: 0 })
    service.now += minute
    const at = service.now - hour
    const { notifier } = openNotifier(service)
    const messages = async () => {
      await notifier.scan()
      service.now += 10 * minute
      await notifier.round()
      const rows = `select message from alert_deliveries where organisation_id = ${tenant.organisation.id} order by id`
      return (await queryRows(service.url, rows)).map(({ message }) => JSON.parse(String(message)))
    }
    for (const prompt of [tenant.prompt, other]) {
      await service.store.shifts.replace(prompt, [{ ...shift(at), foundAt: service.now }])
    }
    const ids = (await shiftsOf(tenant)).map(({ id, prompt }) => [id, prompt.id])
    for (const [id, promptId] of ids as [string, string][]) {
      const until = new Date(service.now + 5 * hour).toISOString()
      const payload =
        promptId === other.publicId ? { owner: 'grace@example.com', snoozed_until: until } : { acknowledged: true }
      const url = `/api/v1/prompts/${promptId}/shifts/${id}`
      const response = await service.app.inject({ method: 'PATCH', url, headers: tenant.headers, payload })
      assert.equal(response.statusCode, 200, response.body)
    }
    assert.deepEqual(await messages(), [])
    service.now += 5 * hour
    const [message, ...rest] = await messages()
    assert.deepEqual(rest, [])
    const { facts, prompts } = contentOf(message, 'https://ledger.example')
    assert.deepEqual(facts.at(-1), { label: 'Owner', text: 'grace@example.com' })
    const [id] = ids.find(([, promptId]) => promptId === other.publicId) as string[]
    assert.equal(prompts[0]?.links[0]?.url, `https://ledger.example/prompts/${other.publicId}/shifts/${id}`)
  })

  test('a shift is for its organisation: other tenants get 404, readers 403, and a share link shows no owner', async () => {
    const [tenant, other] = [await service.tenant('free', 'admin'), await service.tenant()]
    await service.store.shifts.replace(tenant.prompt, [shift(service.now - day)])
    const [{ id }] = (await shiftsOf(tenant)) as [ShiftDetailsBody]
    assert.equal((await aboutShift(other, id, { acknowledged: true })).statusCode, 404)
    const elsewhere = await service.prompt(tenant.organisation, 'elsewhere')
    const url = `/api/v1/prompts/${elsewhere.publicId}/shifts/${id}`
    assert.equal((await service.app.inject({ url, headers: tenant.headers })).statusCode, 404)
    for (const body of [{}, { owner: 'grace' }, { comment: 'a\0b' }, { snoozed_until: '2020-01-01T00:00:00Z' }]) {
      assert.equal((await aboutShift(tenant, id, body)).statusCode, 422, JSON.stringify(body))
    }
    assert.equal((await aboutShift(tenant, `${id}'--`, {})).statusCode, 404)
    await aboutShift(tenant, id, { owner: 'grace@example.com', comment: 'Ours.' })
    const shared = await service.app.inject({
      ...{ method: 'POST', url: `${tenant.path}/shares`, headers: tenant.headers, payload: {} },
    })
    const headers = { authorization: `Bearer ${new URL(shared.json().data.url).hash.slice(1)}` }
    const list = await service.app.inject({ url: `${tenant.path}/shifts?owner=grace@example.com`, headers })
    assert.equal(list.json().data[0]?.owner, null, list.body)
    assert.equal((await service.app.inject({ url: `${tenant.path}/shifts/${id}`, headers })).statusCode, 403)
  })
})
