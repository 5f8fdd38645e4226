import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { openPull } from '../../../testing/operations.ts'
import { queryRows } from '../../../testing/rows.ts'
import { useService } from '../../../testing/service.ts'
import { path, useTrials } from '../../../testing/trials.ts'
import { hour, minute } from '../../src/domain/time.ts'

onOneEngine('What a trial counts', (engine) => {
  const service = useService(engine)
  const { deliveringScenario, send, started, keyOf, trialOf, newRounds, release, judge, vote } = useTrials(service)

  test('a prompt has one trial at a time, however many requests start one', async () => {
    const scenario = await deliveringScenario()
    await openPull(scenario, 41)
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => send(scenario, 'POST', '/trials', { pull: 41, share: 0.1 })),
    )
    const first = responses.filter(({ statusCode }) => statusCode === 201)
    assert.equal(first.length, 1)
    for (const response of responses.filter((each) => each !== first[0])) {
      assertError(response, 409, 'conflict')
      assert.equal(response.json().error.trial_id, first[0]?.json().data.id)
    }
    await send(scenario, 'PATCH', `/trials/${first[0]?.json().data.id}`, { state: 'ended' })
    assert.equal((await send(scenario, 'POST', '/trials', { pull: 41, share: 0.1 })).statusCode, 201)
  })

  test('exposures are totals of each process, which a repeated or late request does not change', async () => {
    const scenario = await deliveringScenario()
    const { id } = await started(scenario)
    const report = async (source: string, control: number, candidate: number) => {
      const exposures = [
        { trial: id, share: 0.5, control, candidate },
        { trial: `trl_${'0'.repeat(24)}`, share: 0.5, control, candidate },
      ]
      const { statusCode } = await send(scenario, 'POST', '/trials/exposures', { source, exposures })
      assert.equal(statusCode, 204)
    }
    await report('a', 10, 12)
    await Promise.all([report('a', 20, 21), report('a', 20, 21), report('b', 5, 4)])
    await report('a', 10, 12)
    const [exposures, ...more] = await service.store.trials.exposures(await trialOf(scenario, id))
    assert.deepEqual(more, [])
    assert.deepEqual([exposures?.control, exposures?.candidate, exposures?.sources], [25, 25, 2])
    // A key changes no counts of another one, even if it names its process.
    await send(
      scenario,
      'POST',
      '/trials/exposures',
      { source: 'a', exposures: [{ trial: id, share: 0.5, control: 100_000, candidate: 0 }] },
      await keyOf(scenario, 'delivery'),
    )
    await judge()
    const { control, candidate } = (await send(scenario, 'GET', `/trials/${id}`)).json().data
    assert.deepEqual([control.exposures, candidate.exposures], [25, 25])
  })

  test('one vote of each voter, is counted, and none without a voter or a version of the trial', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    const rates = { control: 1, candidate: 1 }
    await vote(scenario, { ...trial, count: 50, rates })
    await vote(scenario, { ...trial, count: 50, rates: { control: 0, candidate: 0 } })
    await vote(scenario, { ...trial, head: 'e'.repeat(40), live: 'e'.repeat(40), units: 'other', count: 20, rates })
    const prompt = await scenario.promptId(path)
    const key = await keyOf(scenario, 'ingest')
    await send(scenario, 'POST', `/prompts/${prompt}/signals`, { value: 'negative', version: trial.head }, key)
    await send(scenario, 'POST', `/prompts/${prompt}/signals`, { value: 'negative', voter: 'v' }, key)
    await send(
      scenario,
      'POST',
      `/prompts/${prompt}/signals`,
      { value: 'negative', voter: 'v', version: trial.head },
      key,
    )
    await judge()
    const { arms } = (await trialOf(scenario, trial.id)).findings ?? {}
    assert.equal((arms?.control.voters ?? 0) + (arms?.candidate.voters ?? 0), 51)
    assert.equal((arms?.control.positive ?? 0) + (arms?.candidate.positive ?? 0), 50)
  })

  test('each vote is counted once over many looks, also a late one, and again after one was deleted', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    const rates = { control: 0.8, candidate: 0.8 }
    const startedAt = service.now
    const counted = async () => {
      const { arms } = (await trialOf(scenario, trial.id)).findings ?? {}
      return (arms?.control.voters ?? 0) + (arms?.candidate.voters ?? 0)
    }
    // One who votes more often than a look reads.
    const [prompt] = await service.store.prompts.named(scenario.tenant.organisation.id, path)
    await queryRows(
      service.url,
      `insert into signals (id, organisation_id, prompt_id, value, created_at, version, voter)
       with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 21000)
       select 1000000 + n, ${scenario.tenant.organisation.id}, ${prompt?.id}, 'positive', ${startedAt} + n, '${trial.live}', 'busy' from numbers`,
    )
    service.now += 30_000
    await vote(scenario, { ...trial, count: 30, rates })
    await judge()
    assert.equal(await counted(), 1)
    await judge()
    assert.equal(await counted(), 31)
    await vote(scenario, { ...trial, count: 40, rates })
    await judge()
    assert.equal(await counted(), 41)
    const now = service.now
    service.now = startedAt
    await vote(scenario, { ...trial, count: 5, units: 'late', rates })
    service.now = now
    await judge()
    assert.equal(await counted(), 41)
    service.now += hour
    for (let look = 0; look < 12; look++) await judge()
    assert.equal(await counted(), 46)
    await queryRows(service.url, `delete from signals where voter = 'busy'`)
    const { data } = (await send(scenario, 'GET', `/prompts/${await scenario.promptId(path)}/signals`)).json()
    await send(scenario, 'DELETE', `/prompts/${await scenario.promptId(path)}/signals/${data[0].id}`)
    for (let look = 0; look < 3; look++) await judge()
    assert.equal(await counted(), 44)
    await send(scenario, 'PATCH', `/trials/${trial.id}`, { state: 'ended' })
  })

  test('a forge that hangs delays no verdict, and one process judges at a time', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    await vote(scenario, { ...trial, count: 20, rates: { control: 0.8, candidate: 0.8 } })
    await queryRows(service.url, `update repositories set reports_on_pulls = 1 where id = ${scenario.repository.id}`)
    service.now += hour
    let attempts = 0
    const hanging = newRounds((message) => {
      if ('trial' in message && message.trial.id === trial.id) attempts++
      return new Promise(() => {})
    })
    await release()
    await hanging.round()
    await eventually(() => assert.equal(attempts, 1))
    const other = await deliveringScenario()
    const worse = await started(other)
    await vote(other, { ...worse, count: 600, rates: { control: 0.85, candidate: 0.55 } })
    // The lease of the first.
    await judge()
    assert.equal((await trialOf(other, worse.id)).findings, null)
    await hanging.round()
    assert.equal((await trialOf(other, worse.id)).ending, 'worse')
    assert.equal(attempts, 1)
    await vote(scenario, { ...trial, count: 20, units: 'more', rates: { control: 0.8, candidate: 0.8 } })
    service.now += minute
    await judge()
    const { arms } = (await trialOf(scenario, trial.id)).findings ?? {}
    assert.equal((arms?.control.voters ?? 0) + (arms?.candidate.voters ?? 0), 40)
  })

  test('a trial that ends leaves no text, no voter and no open notice', async () => {
    const scenario = await deliveringScenario()
    const { id, ...trial } = await started(scenario)
    await vote(scenario, { id, ...trial, count: 20, rates: { control: 0.8, candidate: 0.8 } })
    await judge()
    const left = async () => [
      ...(await queryRows(
        service.url,
        `select text from delivered_texts where organisation_id = ${scenario.tenant.organisation.id}
           and blob in (select blob from trial_prompts where trial_id = '${id}')`,
      )),
      ...(await queryRows(service.url, `select voter from trial_voters where trial_id = '${id}'`)),
      ...(await queryRows(service.url, `select state from notices where subject like '${id}/%' and ended_at is null`)),
    ]
    assert.equal((await left()).length, 22)
    await send(scenario, 'PATCH', `/trials/${id}`, { state: 'ended' })
    assert.deepEqual(await left(), [])
  })
})

onOneEngine('The exposures of keys', (engine) => {
  const service = useService(engine)
  const { deliveringScenario, send, started, keyOf, trialOf } = useTrials(service)

  test('a key that only reads counts no units', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    const prompt = await scenario.promptId(path)
    const served: unknown[] = []
    for (const role of ['reader', 'delivery', 'standard'] as const) {
      const { data } = (
        await send(scenario, 'GET', `/prompts/${prompt}/text?unit=${role}`, undefined, await keyOf(scenario, role))
      ).json()
      served.push(data.trial)
    }
    assert.ok(served.every((each) => each !== null))
    // Stores what was counted.
    await service.app.close()
    const exposures = await service.store.trials.exposures(await trialOf(scenario, trial.id))
    assert.equal(exposures.length, 2, 'each key is counted for itself')
    assert.equal(
      exposures.reduce((sum, { control, candidate }) => sum + control + candidate, 0),
      2,
    )
  })
})
