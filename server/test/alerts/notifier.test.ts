import assert from 'node:assert/strict'
import { before, beforeEach, test } from 'node:test'
import { addAlert } from '../../../testing/alerts.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { postVotes } from '../../../testing/judged-votes.ts'
import { openNotifier } from '../../../testing/notifier.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { figures, openRegression } from '../../../testing/regressions.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { Alert } from '../../src/domain/alerts/alert.ts'
import { digestTime } from '../../src/domain/alerts/digest-time.ts'
import type { RegressionMessage } from '../../src/domain/alerts/message.ts'
import { day, hour, minute } from '../../src/domain/time.ts'

onOneEngine('The notifier', (engine) => {
  const service = useService(engine)
  before(() => {
    service.planLimits.free = null
  })
  // Alerts of one test must not hear of another.
  beforeEach(() => queryRows(service.url, 'update notices set due_at = null'))

  const deliveriesOf = async ({ organisation }: Pick<Tenant, 'organisation'>, alert: Alert | null = null) => {
    const request = { page: '1', limit: 100 }
    const { deliveries } = await service.store.alertDeliveries.page(organisation.id, alert?.id ?? null, request)
    return deliveries.reverse()
  }
  const eventsOf = async (tenant: Tenant) => (await deliveriesOf(tenant)).map(({ event, state }) => `${event} ${state}`)
  const later = (ms: number) => {
    service.now += ms
  }

  test('votes that are worse after a change reach a webhook with the change and the newest comments, and so does the repair', async () => {
    const receiver = await startReceiver()
    const tenant = await service.tenant('free', 'admin')
    const start = service.now
    const at = (daysAgo: number) => start - daysAgo * day + 17 * minute + 3
    await addAlert(service, tenant.organisation.id, { target: receiver.url })
    const { tell, notifier } = openNotifier(service)
    const record = (daysAgo: number, name: string, i: number) =>
      tenant.recordEntry({
        createdAt: at(daysAgo),
        commitSha: String(i).repeat(40),
        user: { name, email: 'a@b.example' },
      })
    await record(20, 'Ada', 1)
    await postVotes(tenant, { from: at(20) + 1, until: at(8), count: 4_000, rate: 0.85 })
    const bad = await record(8, 'Grace Hopper', 2)
    await postVotes(tenant, { from: at(8) + 1, until: service.now, count: 1_200, rate: 0.6 })
    for (const comment of ['old', 'rude', 'wrong', 'too long']) {
      const payload = { value: 'negative', comment }
      const url = `${tenant.path}/signals`
      const response = await service.app.inject({ method: 'POST', url, headers: tenant.headers, payload })
      assert.equal(response.statusCode, 201, response.body)
      later(1_000)
    }
    await service.judge.round()
    await tell()
    assert.equal(receiver.received.length, 0, 'it has to hold first')
    later(16 * minute)
    await service.judge.round()
    await tell()
    await tell()
    assert.equal(receiver.received.length, 1)
    const [opened] = await deliveriesOf(tenant)
    const message = opened?.message as RegressionMessage
    assert.equal(message.change.id, bad.id)
    assert.equal(message.change.user.name, 'Grace Hopper')
    const [told] = message.prompts
    assert.equal(told?.prompt.publicId, tenant.prompt.publicId)
    assert.ok(Math.abs((told?.before.rate ?? 0) - 0.85) < 0.01 && Math.abs((told?.after.rate ?? 0) - 0.6) < 0.01)
    assert.deepEqual([told?.before.signals, told?.after.signals], [4_000, 1_204])
    assert.equal(told?.liveFrom, at(8))
    assert.deepEqual(told?.comments, [], 'comments are not stored')
    const { body, headers } = receiver.received[0] as (typeof receiver.received)[number]
    assert.equal(headers['webhook-id'], opened?.publicId)
    assert.match(body, /too long.+wrong.+rude/)
    assert.ok(!body.includes('"old"'))
    assert.match(body, /Grace Hopper/)

    await record(0, 'Ada', 3)
    await service.store.regressions.repair(tenant.prompt, told?.regressionId as number, {
      at: service.now,
      by: 'rate',
      entryId: null,
    })
    await tell()
    assert.equal(receiver.received.length, 1, 'the recovery has to hold')
    later(15 * minute)
    await tell()
    assert.deepEqual(await eventsOf(tenant), ['regression.opened sent', 'regression.repaired sent'])
    assert.equal(receiver.received.length, 2)
    later(30 * day)
    await notifier.round()
    assert.equal(receiver.received.length, 2)
  })

  test('on Monday, an alert that chose it gets one digest of what helped, what hurt and what is undecided', async () => {
    const receiver = await startReceiver()
    const tenant = await service.tenant()
    const { id } = tenant.organisation
    const monday = digestTime(service.now) + 7 * day
    service.now = monday - 12 * hour
    const start = service.now
    const target = receiver.url
    await addAlert(service, id, { target, events: ['digest.weekly'] })
    await addAlert(service, id, { target, events: ['digest.weekly'], prompts: 'legal/*' })
    await addAlert(service, id, { target })
    // Better, and known to be so a week before; better since; and with too few votes to tell.
    const changes = [
      { name: 'known', daysAgo: 16, rate: 0.95, votes: 4_000 },
      { name: 'new', daysAgo: 5, rate: 0.95, votes: 1_200 },
      { name: 'undecided', daysAgo: 3, rate: 0.7, votes: 30 },
    ]
    for (const { name, daysAgo, rate, votes } of changes) {
      const prompt = await service.prompt(tenant.organisation, name)
      const at = monday - daysAgo * day
      for (const [i, createdAt] of [at - 10 * day, at].entries()) {
        const entry = { action: 'deployed', user: { name: 'Ada', email: 'a@b.example' }, branchName: 'main' } as const
        const key = { commitSha: String(i + 1).repeat(40), prNumber: null, prUrl: null, dedupeKey: `${name} ${i}` }
        await service.store.history.record(prompt, { ...entry, ...key, createdAt }, start, null)
      }
      const of = { prompt: prompt.publicId }
      await postVotes(tenant, { ...of, from: at - 10 * day + 1, until: at, count: 2_000, rate: 0.7 })
      await postVotes(tenant, { ...of, from: at + 1, until: start, count: votes, rate })
    }
    const hurt = await openRegression(tenant, start - day)
    const [one, other] = [openNotifier(service), openNotifier(service)]
    service.now = monday - 1
    await one.notifier.scan()
    await one.tell()
    assert.equal(receiver.received.length, 0, 'it is not Monday yet')
    service.now = monday + hour
    const late = await addAlert(service, id, { target, events: ['digest.weekly'] })
    await Promise.all([one, other].map(({ notifier }) => notifier.scan()))
    await Promise.all([one, other].map(({ tell }) => tell()))
    service.now += 30 * hour
    await openNotifier(service).notifier.scan()
    await service.store.alerts.update(late, { ...late, name: 'x' }, service.now, operator)
    await one.tell()
    const bodies = receiver.received.map(({ body }) => JSON.parse(body))
    assert.deepEqual(bodies.map(({ type, data }) => [type, data.summary]).toSorted(), [
      ['digest.weekly', `${tenant.organisation.name} last week: 1 change helped, 1 hurt, 1 undecided`],
      ['digest.weekly', `${tenant.organisation.name} last week: no change helped or hurt, and none is undecided`],
    ])
    const { data } = bodies.find((body) => body.data.counts.hurt === 1)
    assert.equal(data.helped[0].prompt.name, 'new')
    assert.equal(data.hurt[0].regression_id, hurt.id)
    assert.equal(data.undecided[0].prompt.name, 'undecided')
    assert.ok(data.undecided[0].days_left > 0)

    service.now = monday + 7 * day + hour
    await one.notifier.scan()
    await one.tell()
    const next = receiver.received.slice(2).map(({ body }) => JSON.parse(body).data.summary)
    assert.equal(next.length, 3, 'now the alert that was added on a Monday gets it, too')
    assert.ok(next.includes(`${tenant.organisation.name} last week: 0 changes helped, 1 hurt, 1 undecided`))
  })

  test('a regression that was too uncertain is told as soon as its figures are certain', async () => {
    const receiver = await startReceiver()
    const tenant = await service.tenant()
    await addAlert(service, tenant.organisation.id, { target: receiver.url })
    const uncertain = { ...figures, evidence: 1.4, signalsAfter: 200 }
    const { id } = await openRegression(tenant, service.now, uncertain)
    const { tell } = openNotifier(service)
    later(16 * minute)
    await tell()
    assert.equal(receiver.received.length, 0)
    later(1_000)
    await service.store.regressions.update(tenant.prompt, id, { ...uncertain, evidence: 5 })
    await tell()
    assert.equal(receiver.received.length, 1)
  })

  test('an alert whose filter is changed hears of an open regression that it did not match before', async () => {
    const receiver = await startReceiver()
    const tenant = await service.tenant()
    const rules = { target: receiver.url, prompts: 'legal/*' }
    const alert = await addAlert(service, tenant.organisation.id, rules)
    await openRegression(tenant, service.now)
    const { tell } = openNotifier(service)
    later(16 * minute)
    await tell()
    assert.equal(receiver.received.length, 0)
    await service.store.alerts.update(alert, { ...alert, prompts: '**' }, service.now, operator)
    await tell()
    assert.equal(receiver.received.length, 1)
  })

  test('ten prompts of one change are one message for each alert, and a filter decides which of them it names', async () => {
    const receiver = await startReceiver()
    const tenant = await service.tenant()
    const { id } = tenant.organisation
    const all = await addAlert(service, id, { target: `${receiver.url}all` })
    const some = await addAlert(service, id, { target: `${receiver.url}some`, prompts: 'sales/*' })
    const none = await addAlert(service, id, { target: `${receiver.url}none`, prompts: 'legal/*' })
    for (let i = 0; i < 10; i++) {
      const prompt = await service.prompt(tenant.organisation, `${i < 7 ? 'support' : 'sales'}/${i}`)
      await openRegression(tenant, service.now, { prompt, difference: -0.1 - i / 100 })
    }
    const { tell } = openNotifier(service)
    later(20 * minute)
    await tell()
    assert.deepEqual(receiver.received.map(({ path }) => path).sort(), ['/all', '/some'])
    const namesOf = async (alert: Alert) =>
      (await deliveriesOf(tenant, alert)).map(({ message }) =>
        (message as RegressionMessage).prompts.map(({ prompt }) => prompt.name),
      )
    assert.deepEqual((await namesOf(all))[0]?.length, 10)
    assert.deepEqual((await namesOf(all))[0]?.[0], 'sales/9', 'the largest loss first')
    assert.deepEqual(await namesOf(some), [['sales/9', 'sales/8', 'sales/7']])
    assert.deepEqual(await namesOf(none), [])
    // A later prompt of the same change concerns only those who have not heard of the change.
    const prompt = await service.prompt(tenant.organisation, 'legal/1')
    await openRegression(tenant, service.now, { prompt })
    later(20 * minute)
    await tell()
    assert.deepEqual(receiver.received.map(({ path }) => path).sort(), ['/all', '/none', '/some'])
  })

  test('submitted entries of one pull request are one message, whatever their commits, and those of another are not', async () => {
    const receiver = await startReceiver()
    const tenant = await service.tenant()
    const alert = await addAlert(service, tenant.organisation.id, { target: receiver.url })
    const [one, two] = ['https://forge.example/acme/one/pulls/7', 'https://forge.example/acme/two/pulls/7']
    for (const [i, prUrl] of [one, one, one, two].entries()) {
      const prompt = await service.prompt(tenant.organisation, `support/${i}`)
      await openRegression(tenant, service.now, { prompt, commitSha: String(i).repeat(40), prNumber: 7, prUrl })
    }
    later(20 * minute)
    await openNotifier(service).tell()
    const told = (await deliveriesOf(tenant, alert)).map(({ message }) =>
      (message as RegressionMessage).prompts.map(({ prompt }) => prompt.name).toSorted(),
    )
    assert.deepEqual(told.toSorted(), [['support/0', 'support/1', 'support/2'], ['support/3']])
  })

  test('several processes tell and send once', async () => {
    const receiver = await startReceiver()
    const tenant = await service.tenant()
    for (let i = 0; i < 4; i++) await addAlert(service, tenant.organisation.id, { target: `${receiver.url}${i}` })
    await openRegression(tenant, service.now)
    later(20 * minute)
    const processes = Array.from({ length: 5 }, () => openNotifier(service))
    await Promise.all(processes.map(({ notifier }) => notifier.round()))
    assert.equal((await deliveriesOf(tenant)).length, 4)
    await Promise.all(processes.map(({ tell }) => tell()))
    assert.deepEqual(receiver.received.map(({ path }) => path).sort(), ['/0', '/1', '/2', '/3'])
  })

  test('a regression that changes while a process decides is decided again', async () => {
    const tenant = await service.tenant()
    const alert = await addAlert(service, tenant.organisation.id)
    const { prompt, id } = await openRegression(tenant, service.now)
    later(20 * minute)
    const { notices, regressions } = service.store
    const [notice] = (await notices.due(service.now, 100)).filter(
      ({ organisationId }) => organisationId === tenant.organisation.id,
    )
    assert.ok(notice !== undefined)
    await regressions.repair(prompt, id, { at: service.now, by: 'rate', entryId: null })
    const message = { event: 'regression.opened', at: 1, organisation: { id: 1, name: 'a' } } as RegressionMessage
    const queue = {
      publicId: 'msg_x',
      alertId: alert.id,
      event: 'regression.opened',
      round: 1,
      repeat: 0,
      unsent: null,
    } as const
    const decision = { deliveries: [{ cancel: null, queue: { ...queue, message } }], dueAt: null }
    assert.equal(await notices.decide(notice, decision, service.now), false)
    assert.deepEqual(await eventsOf(tenant), [])
    await openNotifier(service).tell()
    assert.deepEqual(await eventsOf(tenant), [], 'it was repaired before anyone was told')
  })

  test('a message that waits is cancelled when its regression is over, and nothing else is sent', async () => {
    const tenant = await service.tenant()
    await addAlert(service, tenant.organisation.id)
    const { prompt, id } = await openRegression(tenant, service.now)
    later(20 * minute)
    const { notifier } = openNotifier(service)
    await notifier.round()
    await service.store.regressions.withdraw(prompt, id, { at: service.now, explanation: 'Others fell too.' })
    await notifier.round()
    assert.deepEqual(await eventsOf(tenant), ['regression.opened cancelled'])
    later(day)
    await notifier.round()
    assert.deepEqual(await eventsOf(tenant), ['regression.opened cancelled'])
  })

  test('a message that is being sent when its regression is over is followed by another one', async () => {
    const tenant = await service.tenant()
    await addAlert(service, tenant.organisation.id, { recoveryHoldMs: 0 })
    const { prompt, id } = await openRegression(tenant, service.now)
    later(20 * minute)
    const { notifier } = openNotifier(service)
    await notifier.round()
    const { alertDeliveries, notices, regressions } = service.store
    const due = (await alertDeliveries.due(service.now, tenant.organisation.id - 1, 1))[0]
    assert.ok(due !== undefined)
    await regressions.withdraw(prompt, id, { at: service.now, explanation: 'Others fell too.' })
    // Between the decision to cancel it and storing that, a process starts to send it.
    const [notice] = (await notices.due(service.now, 100)).filter(
      ({ organisationId }) => organisationId === tenant.organisation.id,
    )
    assert.ok(notice !== undefined)
    const claimed = await alertDeliveries.claim(due, 'other', service.now, service.now + minute)
    assert.ok(claimed !== null)
    await notices.decide(notice, { deliveries: [{ cancel: due.id, queue: null }], dueAt: null }, service.now)
    assert.deepEqual(await eventsOf(tenant), ['regression.opened pending'])
    await alertDeliveries.finish(claimed, {
      state: 'sent',
      status: 200,
      response: 'ok',
      error: null,
      dueAt: service.now,
      finishedAt: service.now,
    })
    later(10_000)
    await notifier.round()
    assert.deepEqual(await eventsOf(tenant), ['regression.opened sent', 'regression.withdrawn pending'])
  })

  test('a message that a killed process may have sent is taken back', async () => {
    const tenant = await service.tenant()
    await addAlert(service, tenant.organisation.id, { recoveryHoldMs: 0 })
    const { prompt, id } = await openRegression(tenant, service.now)
    later(20 * minute)
    const { notifier } = openNotifier(service)
    await notifier.round()
    const { alertDeliveries, regressions } = service.store
    const due = (await alertDeliveries.due(service.now, tenant.organisation.id - 1, 1))[0]
    assert.ok(due !== undefined)
    // It is sent, and the process is killed before it records that.
    assert.ok((await alertDeliveries.claim(due, 'dead', service.now, service.now + minute)) !== null)
    await regressions.withdraw(prompt, id, { at: service.now, explanation: 'Others fell too.' })
    await notifier.round()
    assert.deepEqual(await eventsOf(tenant), ['regression.opened pending'])
    later(minute)
    await notifier.round()
    assert.deepEqual(await eventsOf(tenant), ['regression.opened cancelled', 'regression.withdrawn pending'])
  })

  test('a dismissal resolves the incident in PagerDuty and says nothing to others', async () => {
    const receiver = await startReceiver()
    const tenant = await service.tenant('free', 'admin')
    const slack = await addAlert(service, tenant.organisation.id, { channel: 'slack', target: receiver.url })
    const pager = await addAlert(service, tenant.organisation.id, { channel: 'pagerduty', target: 'a'.repeat(32) })
    const { id } = await openRegression(tenant, service.now)
    later(20 * minute)
    const { notifier } = openNotifier(service)
    await notifier.round()
    await queryRows(
      service.url,
      `update alert_deliveries set state = 'sent', attempts = 1, finished_at = 1 where organisation_id = ${tenant.organisation.id}`,
    )
    const url = `${tenant.path}/regressions/${id}/dismiss`
    const payload = { note: 'We want short answers.' }
    const response = await service.app.inject({ method: 'POST', url, headers: tenant.headers, payload })
    assert.equal(response.statusCode, 200, response.body)
    await notifier.round()
    const statesOf = async (alert: Alert) =>
      (await deliveriesOf(tenant, alert)).map(({ event, state }) => `${event} ${state}`)
    assert.deepEqual(await statesOf(slack), ['regression.opened sent', 'regression.dismissed cancelled'])
    assert.deepEqual(await statesOf(pager), ['regression.opened sent', 'regression.dismissed pending'])
    const message = (await deliveriesOf(tenant, pager)).at(-1)?.message as RegressionMessage
    assert.deepEqual(message.prompts[0]?.explanation, 'Dismissed by test: We want short answers.')
  })

  test('a deleted prompt resolves the incident, and an organisation without alerts costs nothing more', async () => {
    const tenant = await service.tenant('free', 'admin')
    const pager = await addAlert(service, tenant.organisation.id, { channel: 'pagerduty', target: 'a'.repeat(32) })
    await openRegression(tenant, service.now)
    const other = await service.tenant()
    await openRegression(other, service.now)
    later(20 * minute)
    const { notifier } = openNotifier(service)
    await notifier.round()
    await queryRows(
      service.url,
      `update alert_deliveries set state = 'sent', attempts = 1, finished_at = 1 where organisation_id = ${tenant.organisation.id}`,
    )
    await service.store.prompts.delete(tenant.prompt, service.now, operator)
    await notifier.round()
    assert.deepEqual(
      (await deliveriesOf(tenant, pager)).map(({ event }) => event),
      ['regression.opened', 'regression.dismissed'],
    )
    assert.deepEqual(await deliveriesOf(other), [])
    assert.deepEqual(await service.store.notices.due(service.now + 365 * day, 10), [])
  })

  test('the pull request hears of it where the repository reports, with its title', async () => {
    const scenario = await connectedScenario(service)
    const { tenant, repository } = scenario
    const [prompt] = await service.store.facts.prompts(repository)
    assert.ok(prompt !== undefined)
    const full = await service.store.prompts.find(tenant.organisation.id, prompt.publicId)
    assert.ok(full !== null)
    const { entries } = await service.store.history.page(full, { page: '1', limit: 1 })
    const [entry] = entries
    assert.ok(entry !== undefined)
    await service.store.regressions.open(full, entry, figures, service.now)
    const { tell, reported } = openNotifier(service)
    later(20 * minute)
    await queryRows(
      service.url,
      `update notices set due_at = ${service.now} where organisation_id = ${tenant.organisation.id}`,
    )
    await tell()
    assert.equal(reported.length, 0, 'it is off')
    await queryRows(service.url, `update repositories set reports_on_pulls = 1 where id = ${repository.id}`)
    await queryRows(
      service.url,
      `update notices set due_at = ${service.now} where organisation_id = ${tenant.organisation.id}`,
    )
    await tell()
    await tell()
    assert.deepEqual(
      reported.map(({ event, repositoryId, change }) => [event, repositoryId, change.id]),
      [['regression.opened', repository.id, entry.id]],
    )
    assert.equal(typeof reported[0]?.title, 'string')
  })

  test('repeats come until it is over, and not while one waits', async () => {
    const tenant = await service.tenant()
    await addAlert(service, tenant.organisation.id, { repeatMs: hour, recoveryHoldMs: 0 })
    const { prompt, id } = await openRegression(tenant, service.now)
    const { notifier } = openNotifier(service)
    const sendAll = () =>
      queryRows(
        service.url,
        `update alert_deliveries set state = 'sent', attempts = 1, finished_at = ${service.now} where organisation_id = ${tenant.organisation.id}`,
      )
    later(20 * minute)
    await notifier.round()
    later(hour)
    await notifier.round()
    assert.equal((await eventsOf(tenant)).length, 1, 'the first one waits')
    await sendAll()
    for (let i = 0; i < 3; i++) {
      later(hour)
      await notifier.round()
      await sendAll()
    }
    assert.equal((await eventsOf(tenant)).length, 4)
    await service.store.regressions.repair(prompt, id, { at: service.now, by: 'rate', entryId: null })
    await notifier.round()
    later(10 * hour)
    await notifier.round()
    assert.deepEqual((await eventsOf(tenant)).slice(4), ['regression.repaired pending'])
  })

  test('repeats do not end after many, and do not hide that another alert was told', async () => {
    const tenant = await service.tenant()
    const { id: organisationId } = tenant.organisation
    const once = await addAlert(service, organisationId, { recoveryHoldMs: 0 })
    const often = await addAlert(service, organisationId, { repeatMs: hour, recoveryHoldMs: 0 })
    const { prompt, id } = await openRegression(tenant, service.now)
    const { notifier } = openNotifier(service)
    later(20 * minute)
    await notifier.round()
    await queryRows(
      service.url,
      `update alert_deliveries set state = 'sent', attempts = 1, finished_at = 1 where organisation_id = ${organisationId}`,
    )
    await queryRows(
      service.url,
      `insert into alert_deliveries (organisation_id, public_id, notice_id, alert_id, event, round, repeat, message, state, attempts,
         due_at, created_at, finished_at)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 1100)
       select organisation_id, 'r' || i, notice_id, alert_id, event, round, i, message, 'sent', 1, 1, created_at, 1
       from n, alert_deliveries where alert_id = ${often.id} and organisation_id = ${organisationId}`,
    )
    later(hour)
    await notifier.round()
    const [newest] = (await deliveriesOf(tenant, often)).toReversed()
    assert.equal(newest?.state, 'pending', 'the next repeat is queued')
    await service.store.regressions.repair(prompt, id, { at: service.now, by: 'rate', entryId: null })
    await notifier.round()
    assert.deepEqual(
      (await deliveriesOf(tenant, once)).map(({ event, state }) => `${event} ${state}`),
      ['regression.opened sent', 'regression.repaired pending'],
    )
  })

  test('an organisation with many notices does not keep others waiting', async () => {
    const [busy, other] = [await service.tenant(), await service.tenant()]
    await queryRows(
      service.url,
      `insert into notices (organisation_id, kind, subject, state, opened_at, due_at)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 500)
       select ${busy.organisation.id}, 'limit', 'x' || i, 'open', 1, 1 from n`,
    )
    const receiver = await startReceiver()
    await addAlert(service, other.organisation.id, { target: receiver.url })
    await openRegression(other, service.now)
    later(20 * minute)
    await openNotifier(service).tell()
    assert.equal(receiver.received.length, 1)
  })

  test('a limit is told at 80% and when it is reached, once a month', async () => {
    const tenant = await service.tenant()
    const { organisation } = tenant
    await addAlert(service, organisation.id)
    const { notifier } = openNotifier(service)
    const month = Date.UTC(new Date(service.now).getUTCFullYear(), new Date(service.now).getUTCMonth())
    const use = (used: number) =>
      service.store.organisations.usage(organisation.id, month).then(() =>
        queryRows(
          service.url,
          `insert into signal_usage (organisation_id, month, used) values (${organisation.id}, ${month}, ${used})
           on conflict (organisation_id, month) do update set used = ${used}`,
        ),
      )
    const look = async () => {
      later(minute)
      await notifier.scan()
      await notifier.round()
    }
    service.planLimits.free = 1_000
    try {
      for (const used of [799, 800, 900, 1_000, 1_000]) {
        await use(used)
        await look()
      }
    } finally {
      service.planLimits.free = null
    }
    const told = await deliveriesOf(tenant)
    assert.deepEqual(
      told.map(({ message }) => ('used' in message ? [message.event, message.used, message.limit] : null)),
      [
        ['limit.near', 800, 1_000],
        ['limit.reached', 1_000, 1_000],
      ],
    )
  })

  test('a repository that fails for long enough is told, and so is its recovery', async () => {
    const { tenant, repository } = await connectedScenario(service)
    await addAlert(service, tenant.organisation.id)
    const { notifier } = openNotifier(service)
    const look = async () => {
      await notifier.scan()
      await notifier.round()
    }
    const set = (error: string) =>
      queryRows(service.url, `update repositories set last_error = ${error} where id = ${repository.id}`)
    const sendAll = () =>
      queryRows(
        service.url,
        `update alert_deliveries set state = 'sent', attempts = 1, finished_at = 1 where organisation_id = ${tenant.organisation.id}`,
      )
    await set(`'timed out'`)
    await look()
    later(5 * minute)
    await set('null')
    await look()
    later(20 * minute)
    await look()
    assert.deepEqual(await eventsOf(tenant), [], 'it recovered before it was told')
    await set(`'the token expired'`)
    await look()
    later(16 * minute)
    await look()
    const [failing] = await deliveriesOf(tenant)
    assert.ok(failing !== undefined && 'repository' in failing.message)
    assert.deepEqual(failing.message.repository, { id: repository.id, url: repository.url })
    assert.equal(failing.message.error, 'the token expired')
    await sendAll()
    await set('null')
    await look()
    later(16 * minute)
    await look()
    await sendAll()
    assert.deepEqual(await eventsOf(tenant), ['repository.failing sent', 'repository.recovered sent'])
  })

  test('prompts that fall at the same time without a change are one message', async () => {
    const tenant = await service.tenant()
    const fall = (at: number, loss: number) => ({
      at,
      between: [at - hour, at + hour] as [number, number],
      rateBefore: 0.9,
      rateAfter: 0.9 - loss,
      entryId: null,
      sharedWith: null,
      candidates: null,
      foundAt: service.now,
    })
    const start = service.now
    const names = Array.from({ length: 12 }, (_, i) => `p${i}`)
    const prompts = await Promise.all(names.map((name) => service.prompt(tenant.organisation, name)))
    const { shifts } = service.store
    const known = fall(start - 3 * day, 0.5)
    await shifts.replace(tenant.prompt, [known])
    later(minute)
    // Without a hold: all prompts are named all the same.
    await addAlert(service, tenant.organisation.id, { holdMs: 0 })
    const { notifier } = openNotifier(service)
    const look = async () => {
      await notifier.scan()
      await notifier.round()
    }
    later(2 * hour)
    for (const [i, prompt] of prompts.entries()) {
      await shifts.replace(prompt, [fall(start + hour + i * minute, 0.1 + i / 100)])
      await look()
    }
    // A rise, and a fall that a change explains.
    const entry = await tenant.recordEntry()
    await shifts.replace(tenant.prompt, [
      known,
      fall(start + hour, -0.05),
      { ...fall(start + 2 * hour, 0.2), entryId: entry.id },
    ])
    later(20 * minute)
    await look()
    await look()
    const told = await deliveriesOf(tenant)
    assert.deepEqual(
      told.map(({ event }) => event),
      ['shift.unexplained'],
    )
    const message = told[0]?.message
    assert.ok(message !== undefined && 'promptCount' in message)
    assert.equal(message.promptCount, 12)
    assert.deepEqual(
      message.prompts.map(({ prompt }) => prompt.name),
      names.toReversed(),
    )
  })

  test('what ended 90 days ago is deleted, and what is open is remembered', async () => {
    const tenant = await service.tenant()
    await addAlert(service, tenant.organisation.id, { recoveryHoldMs: 0 })
    const other = await service.prompt(tenant.organisation, 'other')
    const over = await openRegression(tenant, service.now)
    await openRegression(tenant, service.now, { prompt: other, commitSha: 'd'.repeat(40) })
    const { notifier } = openNotifier(service)
    const sendAll = () =>
      queryRows(
        service.url,
        `update alert_deliveries set state = 'sent', attempts = 1, finished_at = ${service.now}
         where organisation_id = ${tenant.organisation.id} and state = 'pending'`,
      )
    later(20 * minute)
    await notifier.round()
    await sendAll()
    await service.store.regressions.repair(over.prompt, over.id, { at: service.now, by: 'rate', entryId: null })
    await notifier.round()
    await sendAll()
    assert.equal((await deliveriesOf(tenant)).length, 3)
    later(89 * day)
    await notifier.clean()
    assert.equal((await deliveriesOf(tenant)).length, 3)
    later(2 * day)
    await notifier.clean()
    assert.equal((await deliveriesOf(tenant)).length, 1, 'the open one knows who was told')
    const left = await queryRows(
      service.url,
      `select state from notices where organisation_id = ${tenant.organisation.id}`,
    )
    assert.deepEqual(
      left.map(({ state }) => state),
      ['open'],
    )
    await notifier.round()
    assert.equal((await deliveriesOf(tenant)).length, 1)
  })

  test('messages about shifts and limits are deleted after 90 days, however many there are', async () => {
    const tenant = await service.tenant()
    const { id } = tenant.organisation
    const alert = await addAlert(service, id)
    await queryRows(
      service.url,
      `insert into notices (organisation_id, kind, subject, state, opened_at)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 1500)
       select ${id}, case when i % 2 = 0 then 'shift' else 'limit' end, 'x' || i, 'open', ${service.now} from n`,
    )
    await queryRows(
      service.url,
      `insert into alert_deliveries (organisation_id, public_id, notice_id, alert_id, event, round, message, state, due_at, created_at, finished_at)
       select ${id}, 'l' || id, id, ${alert.id}, 'limit.near', 1, '{}', 'sent', 1, ${service.now}, ${service.now}
       from notices where organisation_id = ${id}`,
    )
    const left = async () => {
      const notices = await queryRows(service.url, `select 1 from notices where organisation_id = ${id}`)
      const deliveries = await queryRows(service.url, `select 1 from alert_deliveries where organisation_id = ${id}`)
      return [notices.length, deliveries.length]
    }
    const { notifier } = openNotifier(service)
    later(89 * day)
    await notifier.clean()
    assert.deepEqual(await left(), [1_500, 1_500])
    later(2 * day)
    await notifier.clean()
    assert.deepEqual(await left(), [0, 0])
  })

  test('at most a thousand messages wait for an alert, and the oldest are given up', async () => {
    const tenant = await service.tenant()
    const alert = await addAlert(service, tenant.organisation.id)
    await queryRows(
      service.url,
      `insert into alert_deliveries (organisation_id, public_id, notice_id, alert_id, event, round, message, state, due_at, created_at)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 1200)
       select ${tenant.organisation.id}, 'm' || i, i + 1000000, ${alert.id}, 'limit.near', 1, '{}', 'pending', 1, 1 from n`,
    )
    await openRegression(tenant, service.now)
    later(20 * minute)
    await openNotifier(service).notifier.round()
    const counts = await queryRows(
      service.url,
      `select state, count(*) as count, min(error) as error from alert_deliveries where organisation_id = ${tenant.organisation.id} group by state order by state`,
    )
    assert.deepEqual(
      counts.map(({ state, count, error }) => [state, Number(count), error]),
      [
        ['failed', 201, 'More than 1000 messages were waiting for this alert.'],
        ['pending', 1_000, null],
      ],
    )
  })
})
