import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { useService } from '../../../testing/service.ts'
import { path, useTrials } from '../../../testing/trials.ts'
import { hour, minute } from '../../src/domain/time.ts'

onOneEngine('The verdict of a trial', (engine) => {
  const service = useService(engine)
  const { deliveringScenario, send, started, keyOf, servedTrial, trialOf, shown, judge, vote, eventsOf } =
    useTrials(service)

  test('worse stops the trial at once, and everyone is told', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    await vote(scenario, { ...trial, count: 600, rates: { control: 0.85, candidate: 0.55 } })
    await judge()
    const { data } = (await send(scenario, 'GET', `/trials/${trial.id}`)).json()
    assert.deepEqual([data.state, data.ended_by, data.verdict, data.mismatch], ['ended', 'worse', 'worse', false])
    assert.ok(data.difference < -0.1 && data.interval[1] < 0, JSON.stringify(data))
    assert.equal(data.control.voters + data.candidate.voters, 600)
    assert.equal(await servedTrial(scenario), null)
    assert.deepEqual(await eventsOf(scenario, trial.id), ['started', 'worse'])
  })

  test('better keeps the trial running, and is told once', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    await vote(scenario, { ...trial, count: 600, rates: { control: 0.55, candidate: 0.85 } })
    await judge()
    await judge()
    const { state, verdict } = await trialOf(scenario, trial.id)
    assert.deepEqual([state, verdict], ['running', 'better'])
    assert.deepEqual(await eventsOf(scenario, trial.id), ['better', 'started'])
  })

  test('is not given if voters do not come in the promised share, but a candidate that users rate lower is stopped', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    // Those who vote earlier may have been served before the start.
    service.now += hour
    let i = 0
    const choose = () => (i++ % 4 === 0 ? ('candidate' as const) : ('control' as const))
    await vote(scenario, { ...trial, count: 800, rates: { control: 0.3, candidate: 0.9 }, choose })
    await judge()
    const { state, verdict, mismatch } = await trialOf(scenario, trial.id)
    assert.deepEqual([state, verdict, mismatch], ['running', null, true])
    assert.deepEqual(await eventsOf(scenario, trial.id), ['mismatch', 'started'])
    // Kept, although the proportion is right again over all voters.
    i = 1
    const others = () => (i++ % 4 === 0 ? ('control' as const) : ('candidate' as const))
    await vote(scenario, {
      ...trial,
      count: 800,
      units: 'later',
      rates: { control: 0.9, candidate: 0.9 },
      choose: others,
    })
    await judge()
    assert.equal((await trialOf(scenario, trial.id)).mismatch, true)
    await vote(scenario, { ...trial, count: 6_000, units: 'last', rates: { control: 0.95, candidate: 0.05 } })
    await judge()
    const { data } = (await send(scenario, 'GET', `/trials/${trial.id}`)).json()
    assert.deepEqual([data.state, data.ended_by, data.verdict, data.mismatch], ['ended', 'worse', null, true])
    assert.ok((await eventsOf(scenario, trial.id)).includes('stopped'))
  })

  test('is not given if exposures do not come in the promised share', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    const exposures = [{ trial: trial.id, share: 0.5, control: 2_600, candidate: 2_400 }]
    await send(scenario, 'POST', '/trials/exposures', { source: 'a', exposures })
    await judge()
    assert.equal((await trialOf(scenario, trial.id)).mismatch, false)
    exposures[0] = { trial: trial.id, share: 0.5, control: 2_750, candidate: 2_250 }
    await send(scenario, 'POST', '/trials/exposures', { source: 'a', exposures })
    await judge()
    assert.equal((await trialOf(scenario, trial.id)).mismatch, true)
  })

  test('does not depend on one key that reports what the others contradict, and the trial names it', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    const { id } = trial
    const report = async (key: string | undefined, source: string, control: number, candidate: number) => {
      const exposures = [{ trial: id, share: 0.5, control, candidate }]
      const sent = await send(scenario, 'POST', '/trials/exposures', { source, exposures }, key)
      assert.equal(sent.statusCode, 204)
    }
    const state = async () => {
      await judge()
      const { data } = (await send(scenario, 'GET', `/trials/${id}`)).json()
      const names = (data.disagreeing_keys as { name: string }[]).map(({ name }) => name)
      return [data.mismatch, (data.control as { exposures: number }).exposures, names]
    }
    const rogue = await keyOf(scenario, 'delivery')
    for (const source of ['a', 'b', 'c']) await report(rogue, source, 100_000, 0)
    assert.deepEqual(await state(), [true, 300_000, ['limited']], 'the only key that reports')
    await report(undefined, 'app', 400, 380)
    assert.deepEqual(await state(), [false, 400, ['limited']], 'others contradict it')
    const better = { control: 0.55, candidate: 0.85 }
    await vote(scenario, { ...trial, count: 600, rates: better })
    await state()
    assert.equal((await trialOf(scenario, id)).verdict, 'better')
    await vote(scenario, { ...trial, count: 600, units: 'more', rates: { control: 0.8, candidate: 0.8 } })
    assert.equal((await state())[0], true, 'more people voted than the others have served')
    await report(undefined, 'app', 1_400, 1_380)
    assert.equal((await state())[0], false)
    await report(await keyOf(scenario, 'delivery'), 'd', 90_000, 0)
    assert.equal((await state())[0], true, 'two keys disagree')
    await vote(scenario, { ...trial, count: 4_000, units: 'last', rates: { control: 0.95, candidate: 0.05 } })
    await judge()
    assert.equal((await trialOf(scenario, id)).ending, 'worse')
  })

  test('raises the share of a ramp after so many votes without harm', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario, { pull: 41, ramp: { shares: [0.05, 0.2, 0.5], votes: 50 } })
    const rates = { control: 0.8, candidate: 0.8 }
    const shares = []
    for (const [i, share] of [0.05, 0.05, 0.2, 0.2].entries()) {
      await vote(scenario, { ...trial, share, count: 30, units: `u${i}-`, rates })
      await judge()
      shares.push((await servedTrial(scenario))?.share)
      service.now += minute
    }
    assert.deepEqual(shares, [0.05, 0.2, 0.2, 0.5])
  })

  test('leaves a share alone that someone has set, instead of going on with the ramp', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario, { pull: 41, ramp: { shares: [0.05, 0.2], votes: 10 } })
    const { data } = (await send(scenario, 'PATCH', `/trials/${trial.id}`, { share: 0.01 })).json()
    assert.deepEqual([data.share, data.ramp], [0.01, null])
    await vote(scenario, { ...trial, share: 0.01, count: 40, rates: { control: 0.8, candidate: 0.8 } })
    await judge()
    assert.equal((await servedTrial(scenario))?.share, 0.01)
  })

  test('stops what was better and becomes worse', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    await vote(scenario, { ...trial, count: 400, rates: { control: 0.5, candidate: 0.85 } })
    await judge()
    await vote(scenario, { ...trial, count: 4_000, units: 'later', rates: { control: 0.95, candidate: 0.05 } })
    await judge()
    const { state, verdict } = await trialOf(scenario, trial.id)
    assert.deepEqual([state, verdict], ['ended', 'worse'])
  })

  test('new figures are shown on a pull request that is reported on, once an hour', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    const rates = { control: 0.8, candidate: 0.8 }
    await vote(scenario, { ...trial, count: 20, rates })
    service.now += hour
    await judge()
    const of = () => shown.filter((message) => message.trial.id === trial.id)
    assert.deepEqual(of(), [])
    await queryRows(service.url, `update repositories set reports_on_pulls = 1 where id = ${scenario.repository.id}`)
    await judge()
    await judge()
    assert.deepEqual(
      of().map(({ event, trial: { findings } }) => [event, findings?.arms.control.voters]),
      [['trial.started', (await trialOf(scenario, trial.id)).findings?.arms.control.voters]],
    )
    await vote(scenario, { ...trial, count: 20, units: 'more', rates })
    await judge()
    assert.equal(of().length, 1)
    service.now += hour
    await judge()
    assert.equal(of().length, 2)
  })

  test('a trial is judged for each value of a declared key', async () => {
    const scenario = await deliveringScenario()
    const trial = await started(scenario)
    const by = (key: string) => send(scenario, 'GET', `/trials/${trial.id}?by=${key}`)
    assertError(await by('metadata.model'), 422, 'validation_error')
    await send(scenario, 'PUT', '/segments', { keys: ['model'] })
    const same = { control: 0.8, candidate: 0.8 }
    await vote(scenario, { ...trial, count: 300, units: 'a', rates: same, metadata: { model: 'a' } })
    await vote(scenario, {
      ...trial,
      count: 300,
      units: 'b',
      rates: { control: 0.9, candidate: 0.5 },
      metadata: { model: 'b' },
    })
    await vote(scenario, { ...trial, count: 300, units: 'b', rates: same, metadata: { model: 'a' } })
    const { key, complete, values } = (await by('metadata.model')).json().data.segments as {
      key: string
      complete: boolean
      values: { value: string; verdict: string | null; control: { voters: number }; candidate: { voters: number } }[]
    }
    assert.deepEqual([key, complete], ['model', true])
    assert.deepEqual(values.map(({ value, verdict }) => [value, verdict]).sort(), [
      ['a', null],
      ['b', 'worse'],
    ])
    assert.deepEqual(
      values.map(({ control, candidate }) => control.voters + candidate.voters),
      [300, 300],
    )
    assert.equal((await send(scenario, 'GET', `/trials/${trial.id}`)).json().data.segments, undefined)
    await send(scenario, 'PATCH', `/trials/${trial.id}`, { state: 'ended' })
  })

  test('the verdict on a merged change says what its trial found, to keys that may read the trial', async () => {
    const scenario = await deliveringScenario()
    const { git, forge } = scenario
    git.switchTo('pull-41', 'main')
    git.commit('Both', { [path]: 'P.\n', 'prompts/q.md': 'Q.\n' })
    const head = git.head()
    git.push('pull-41:pull-41', 'pull-41:refs/pull/41/head')
    git.switchTo('main')
    const facts = { number: 41, head, openedAt: '2026-11-02T10:00:00Z' }
    await scenario.deliver(forge.pull({ action: 'opened', ...facts }))
    const { id } = (await send(scenario, 'POST', '/trials', { pull: 41, share: 0.5 })).json().data
    const live = git.head('main')
    await vote(scenario, { id, head, live, count: 600, rates: { control: 0.55, candidate: 0.85 } })
    await judge()
    const mergeCommit = git.merge('pull-41', 'Merge pull request #41 from acme/pull-41')
    await scenario.push()
    await scenario.deliver(
      forge.pull({ action: 'merged', ...facts, at: new Date(service.now).toISOString(), mergeCommit }),
    )
    await judge()
    const p = await scenario.promptId(path)
    const limited = await keyOf(scenario, 'reader', '**/p.md')
    const found = new RegExp(
      `A randomised trial of ${head.slice(0, 7)} found it better: \\d\\d% of its voters were positive, \\d\\d%`,
    )
    for (const [key, expected] of [
      [undefined, true],
      [limited, false],
    ] as const) {
      const [change] = (await send(scenario, 'GET', `/prompts/${p}/impact`, undefined, key)).json().data
      assert.deepEqual(change.trial, expected ? { id, state: 'ended', verdict: 'better' } : null)
      assert.equal(found.test(change.explanation), expected, change.explanation)
      const [entry] = (await send(scenario, 'GET', `/prompts/${p}/timeline`, undefined, key)).json().data
      assert.equal(found.test(entry.impact.explanation), expected)
      const url = `/prompts/${p}/history/${entry.entry.id}`
      assert.equal((await send(scenario, 'GET', url, undefined, key)).json().data.trial === null, !expected)
    }
  })
})
