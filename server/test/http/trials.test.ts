import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { openPull } from '../../../testing/operations.ts'
import { seededRandom } from '../../../testing/random.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { generateSecret, newApiKey, type Role } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { TrialMessage } from '../../src/domain/alerts/message.ts'
import type { ReportOnPull } from '../../src/domain/alerts/pull-comment.ts'
import { hour, minute } from '../../src/domain/time.ts'
import { armOf } from '../../src/domain/trials/assignment.ts'
import type { Trial } from '../../src/domain/trials/trial.ts'
import { createTrialRounds } from '../../src/service/trials.ts'

const path = 'prompts/p.md'

interface Response {
  statusCode: number
  json(): { data: Record<string, unknown> & { id: string }; error: { message: string; trial_id?: string } }
}

onEachEngine('Trials', (engine) => {
  const service = useService(engine)

  async function deliveringScenario(): Promise<Scenario> {
    const scenario = await connectedScenario(service)
    await service.store.liveTexts.updateSettings(
      scenario.tenant.organisation.id,
      { enabled: true },
      service.now,
      operator,
    )
    await service.storeLiveTexts()
    return scenario
  }

  function send(scenario: Scenario, method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object, key?: string) {
    const headers = key === undefined ? scenario.tenant.headers : { authorization: `Bearer ${key}` }
    return service.app.inject({ method, url: `/api/v1${url}`, headers, ...(payload && { payload }) })
  }

  async function started(scenario: Scenario, body: object = { pull: 41, share: 0.5 }) {
    const head = await openPull(scenario, 41)
    const response: Response = await send(scenario, 'POST', '/trials', body)
    assert.equal(response.statusCode, 201, JSON.stringify(response.json()))
    const { id } = response.json().data
    return { head, id, live: scenario.git.head('main') }
  }

  async function keyOf({ tenant }: Scenario, role: Role, prompts: string | null = null): Promise<string> {
    const secret = generateSecret()
    const { id: organisationId } = tenant.organisation
    await service.store.keys.create(
      newApiKey(secret, { organisationId, name: 'limited', role, prompts, createdAt: 1, expiresAt: null }),
      operator,
    )
    return secret
  }

  async function servedTrial(scenario: Scenario): Promise<{ id: string; share: number; text: string } | null> {
    const { data } = (await send(scenario, 'GET', '/delivery')).json()
    return data.prompts.find((prompt: { path: string }) => prompt.path === path).trial
  }

  const trialOf = async ({ tenant }: Scenario, id: string) =>
    (await service.store.trials.find(tenant.organisation.id, id)) as Trial

  const shown: TrialMessage[] = []
  const sent = { outcome: 'sent', status: 200, response: null, error: null } as const
  const reportOnPull: ReportOnPull = async (message) => {
    if ('trial' in message) shown.push(message)
    return sent
  }
  let round: (() => Promise<void>) | null = null
  const judge = () => {
    round ??= createTrialRounds({ store: service.store, clock: () => service.now, log: console as never, reportOnPull })
    return round()
  }

  /** Stores votes of units that were assigned by this share, each with the version that it got. */
  async function vote(
    scenario: Scenario,
    {
      id,
      head,
      live,
      share = 0.5,
      count,
      rates,
      units = 'u',
      choose = armOf,
    }: {
      id: string
      head: string
      live: string
      share?: number
      count: number
      rates: { control: number; candidate: number }
      units?: string
      choose?: typeof armOf
    },
  ): Promise<void> {
    const { organisation } = scenario.tenant
    const [prompt] = await service.store.prompts.named(organisation.id, path)
    const random = seededRandom(5)
    const signals = Array.from({ length: count }, (_, i) => {
      const unit = `${units}${i}`
      const arm = choose(id, unit, share)
      return {
        organisationId: organisation.id,
        promptId: prompt?.id as number,
        value: random() < rates[arm] ? ('positive' as const) : ('negative' as const),
        metadata: null,
        createdAt: service.now + i,
        details: {
          version: arm === 'candidate' ? head : live,
          voter: unit.padStart(43, '0'),
          subject: null,
          comment: null,
          occurredAt: null,
          traceId: null,
        },
      }
    })
    await service.store.signals.import(
      (async function* () {
        yield signals
      })(),
    )
    service.now += count
  }

  /** The events that people were told about the trial. */
  const eventsOf = async ({ tenant }: Scenario, id: string) =>
    (await service.store.notices.subjects(tenant.organisation.id, 'trial'))
      .filter((subject) => subject.startsWith(id))
      .map((subject) => subject.slice(id.length + 1))
      .sort()

  test('a trial serves the head that its pull request had when it started, to the units of its share', async () => {
    const scenario = await deliveringScenario()
    const { head, id, live } = await started(scenario)
    const expected = { id, share: 0.5, version: head, text: 'Be very kind.\n' }
    assert.deepEqual(await servedTrial(scenario), expected)
    const p = await scenario.promptId(path)
    const q = await scenario.promptId('prompts/q.md')
    for (let i = 0; i < 20; i++) {
      const { data } = (await send(scenario, 'GET', `/prompts/${p}/text?unit=user-${i}`)).json()
      const arm = armOf(id, `user-${i}`, 0.5)
      const [version, text] = arm === 'candidate' ? [head, 'Be very kind.\n'] : [live, 'Be kind.\n']
      assert.deepEqual(data, { id: p, name: path, version, text, trial: { id, arm } })
    }
    for (const url of [`/prompts/${p}/text`, `/prompts/${q}/text?unit=user-1`]) {
      assert.equal((await send(scenario, 'GET', url)).json().data.trial, null)
    }
    // A later push to the pull request, and a force push that drops the commit, change nothing.
    scenario.git.git('switch', '--quiet', '--force-create', 'pull-41', 'main')
    scenario.git.commit('Other', { [path]: 'Hostile.\n' })
    scenario.git.push('pull-41:refs/pull/41/head')
    const pushed = scenario.git.head()
    scenario.git.switchTo('main')
    const facts = { number: 41, head: pushed, openedAt: '2026-11-02T10:00:00Z', at: '2026-11-02T11:00:00Z' }
    await scenario.deliver(scenario.forge.pull({ action: 'updated', ...facts }))
    await judge()
    assert.deepEqual(await servedTrial(scenario), expected)
  })

  test('a commit can be tried by its first digits, and prompts can be chosen', async () => {
    const scenario = await deliveringScenario()
    const { git } = scenario
    git.switchTo('work', 'main')
    git.commit('Both', { [path]: 'P.\n', 'prompts/q.md': 'Q.\n' })
    const commit = git.head()
    git.push('work:work')
    git.switchTo('main')
    const named = await send(scenario, 'POST', '/trials', { commit, prompts: [path], share: 0.1 })
    assert.equal(named.statusCode, 201, named.body)
    assert.deepEqual(
      named.json().data.prompts.map(({ name }: { name: string }) => name),
      [path],
    )
    await send(scenario, 'PATCH', `/trials/${named.json().data.id}`, { state: 'ended' })
    const all = await send(scenario, 'POST', '/trials', { commit: commit.slice(0, 9), share: 0.1 })
    assert.equal(all.json().data.prompts.length, 2, all.body)
    assert.equal(all.json().data.commit_sha, commit)
    assert.equal(all.json().data.pr_number, null)
  })

  test('what cannot be tried is rejected, with the reason', async () => {
    const scenario = await deliveringScenario()
    await openPull(scenario, 41)
    const { git } = scenario
    git.switchTo('work', 'main')
    git.commit('Other file', { 'README.md': 'y\n' })
    const unrelated = git.head()
    git.push('work:work')
    git.switchTo('main')
    const large = 'x'.repeat(300_000)
    await openPull(scenario, 42, large)
    const rejected: [object, RegExp][] = [
      [{ pull: 41, share: -0.1 }, /^share must be from 0 to 1/],
      [{ pull: 41, share: 1.01 }, /^share must be from 0 to 1/],
      [{ pull: 41, share: '10%' }, /^share must be a number/],
      [{ pull: 41 }, /^share is required, or ramp/],
      [{ share: 0.1 }, /^pull is required, or commit/],
      [{ pull: 41, commit: unrelated, share: 0.1 }, /^commit must be left out with pull/],
      [{ pull: 40, share: 0.1 }, /^pull is unknown in /],
      [{ commit: 'f'.repeat(40), share: 0.1 }, /^commit is unknown in /],
      [{ commit: '--upload-pack=x', share: 0.1 }, /^commit must match pattern/],
      [{ commit: unrelated, share: 0.1 }, /^commit does not change a prompt that is delivered/],
      [{ commit: unrelated, prompts: [path], share: 0.1 }, /^prompts must be changed by the commit, but prompts\/p.md/],
      [{ commit: git.head('main'), share: 0.1 }, /^commit is live already/],
      [{ commit: git.head('main'), prompts: [path], share: 0.1 }, /^prompts must not be live/],
      [{ pull: 41, prompts: ['unknown'], share: 0.1 }, /^prompts must be IDs, names or paths/],
      [{ pull: 41, prompts: [scenario.tenant.prompt.publicId], share: 0.1 }, /^prompts must have files in /],
      [{ pull: 42, share: 0.1 }, /is too large or no text/],
      [{ pull: 41, repository_id: 987654321, share: 0.1 }, /^repository_id must be the ID/],
      [{ pull: 41, ramp: { shares: [0.5, 0.2], votes: 10 } }, /^ramp.shares must rise/],
      [{ pull: 41, ramp: { shares: [0.5], votes: 0 } }, /^ramp.votes must be/],
      [{ pull: 41, share: 0.1, ramp: { shares: [0.5], votes: 10 } }, /^share must be left out with ramp/],
    ]
    for (const [body, message] of rejected) {
      const response = await send(scenario, 'POST', '/trials', body)
      assertError(response, 422, 'validation_error')
      assert.match(response.json().error.message, message)
    }
    assert.equal(await servedTrial(scenario), null)
    await service.store.liveTexts.updateSettings(
      scenario.tenant.organisation.id,
      { excluded: ['**/p.md'] },
      1,
      operator,
    )
    assertError(await send(scenario, 'POST', '/trials', { pull: 41, share: 0.1 }), 422, 'validation_error')
    await service.store.liveTexts.updateSettings(scenario.tenant.organisation.id, { enabled: false }, 1, operator)
    assertError(await send(scenario, 'POST', '/trials', { pull: 41, share: 0.1 }), 409, 'conflict')
  })

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

  test('a trial can be changed, paused, resumed and ended, and an ended one stays so', async () => {
    const scenario = await deliveringScenario()
    const { id } = await started(scenario)
    const patch = (body: object) => send(scenario, 'PATCH', `/trials/${id}`, body)
    assert.equal((await patch({ share: 0.2 })).json().data.share, 0.2)
    assert.equal((await servedTrial(scenario))?.share, 0.2)
    assert.equal((await patch({ state: 'paused' })).json().data.state, 'paused')
    assert.equal(await servedTrial(scenario), null)
    assert.equal((await patch({ state: 'running' })).json().data.state, 'running')
    assert.equal((await servedTrial(scenario))?.share, 0.2)
    assert.deepEqual(
      (await trialOf(scenario, id)).shares.map(({ share }) => share),
      [0.5, 0.2, 0, 0.2],
    )
    assertError(await patch({}), 422, 'validation_error')
    assertError(await patch({ share: 2 }), 422, 'validation_error')
    assertError(await patch({ state: 'gone' }), 422, 'validation_error')
    const ended = (await patch({ state: 'ended' })).json().data
    assert.deepEqual([ended.state, ended.ended_by], ['ended', 'requested'])
    assert.equal(await servedTrial(scenario), null)
    assertError(await patch({ state: 'running' }), 409, 'conflict')
    assert.deepEqual(await eventsOf(scenario, id), ['started', 'stopped'])
  })

  test('a limited key starts and sees only trials of its prompts, and another organisation none', async () => {
    const scenario = await deliveringScenario()
    const limited = await keyOf(scenario, 'deploy', '**/q.md')
    await openPull(scenario, 41)
    const body = { pull: 41, share: 0.1 }
    assertError(await send(scenario, 'POST', '/trials', body, limited), 422, 'validation_error')
    assertError(await send(scenario, 'POST', '/trials', { ...body, prompts: [path] }, limited), 422, 'validation_error')
    const { id } = (await send(scenario, 'POST', '/trials', body)).json().data
    const stranger = await deliveringScenario()
    for (const [from, key] of [
      [scenario, limited],
      [stranger, undefined],
    ] as const) {
      assertError(await send(from, 'GET', `/trials/${id}`, undefined, key), 404, 'not_found')
      assertError(await send(from, 'PATCH', `/trials/${id}`, { state: 'ended' }, key), 404, 'not_found')
      assert.deepEqual((await send(from, 'GET', '/trials', undefined, key)).json().data, [])
      const exposures = [{ trial: id, share: 0.1, control: 1_000, candidate: 0 }]
      if (key === undefined) await send(from, 'POST', '/trials/exposures', { source: 's', exposures })
    }
    assert.deepEqual(await service.store.trials.exposures(await trialOf(scenario, id)), [])
    assert.equal((await send(scenario, 'GET', '/trials')).json().pagination.total_count, 1)
    assert.equal((await send(scenario, 'GET', '/trials?state=ended')).json().pagination.total_count, 0)
    assert.equal((await send(scenario, 'GET', `/trials?prompt=${path}`)).json().pagination.total_count, 1)
    assert.equal((await send(scenario, 'GET', '/trials?prompt=prompts/q.md')).json().pagination.total_count, 0)
  })

  describe('exposures', () => {
    test('are totals of each process, which a repeated or late request does not change', async () => {
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
      const expected = [{ share: 0.5, control: 25, candidate: 25, sources: 2 }]
      assert.deepEqual(await service.store.trials.exposures(await trialOf(scenario, id)), expected)
      await judge()
      const { control, candidate } = (await send(scenario, 'GET', `/trials/${id}`)).json().data
      assert.deepEqual([control.exposures, candidate.exposures], [25, 25])
    })

    test('that are no counts are rejected', async () => {
      const scenario = await deliveringScenario()
      const item = { trial: 'trl_x', share: 0.5, control: 1, candidate: 1 }
      const rejected = [
        {},
        { source: '', exposures: [] },
        { source: 's'.repeat(65), exposures: [] },
        { source: 'a b', exposures: [] },
        { source: 's', exposures: {} },
        { source: 's', exposures: Array(101).fill(item) },
        ...[{ share: 2 }, { share: -1 }, { control: -1 }, { control: 0.5 }, { candidate: 1e300 }, { trial: 5 }].map(
          (wrong) => ({ source: 's', exposures: [{ ...item, ...wrong }] }),
        ),
      ]
      for (const body of rejected) {
        assertError(await send(scenario, 'POST', '/trials/exposures', body), 422, 'validation_error')
      }
      const unknown = { source: 's', exposures: [item, { ...item, trial: '' }, { ...item, trial: 'x\0' }] }
      assert.equal(
        (await send(scenario, 'POST', '/trials/exposures', { ...unknown, exposures: [item] })).statusCode,
        204,
      )
    })
  })

  describe('the verdict', () => {
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

    test('counts one vote of each voter, and none without a voter or a version of the trial', async () => {
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

    test('is not given if voters do not come in the promised share', async () => {
      const scenario = await deliveringScenario()
      const trial = await started(scenario)
      // Those who vote earlier may have been served before the start.
      service.now += hour
      let i = 0
      const choose = () => (i++ % 4 === 0 ? ('candidate' as const) : ('control' as const))
      await vote(scenario, { ...trial, count: 800, rates: { control: 0.9, candidate: 0.3 }, choose })
      await judge()
      const { state, verdict, mismatch } = await trialOf(scenario, trial.id)
      assert.deepEqual([state, verdict, mismatch], ['running', null, true])
      assert.deepEqual(await eventsOf(scenario, trial.id), ['mismatch', 'started'])
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

  describe('a trial ends', () => {
    test('when its pull request is merged or closed', async () => {
      for (const [action, ending] of [
        ['merged', 'live'],
        ['closed', 'closed'],
      ] as const) {
        const scenario = await deliveringScenario()
        const { id, head } = await started(scenario)
        const facts = { number: 41, head, openedAt: '2026-11-02T10:00:00Z', at: '2026-11-03T10:00:00Z' }
        await scenario.deliver(scenario.forge.pull({ action, ...facts }))
        await judge()
        assert.equal((await trialOf(scenario, id)).ending, ending)
        const p = await scenario.promptId(path)
        const [entry] = (await send(scenario, 'GET', `/prompts/${p}/history`)).json().data
        assert.equal(entry.trial, undefined)
        const details = (await send(scenario, 'GET', `/prompts/${p}/history/${entry.id}`)).json().data
        assert.deepEqual([details.pr_number, details.trial], [41, { id, state: 'ended', verdict: null }])
        assert.deepEqual(await eventsOf(scenario, id), ['started', 'stopped'])
      }
    })

    test('when its text is live', async () => {
      const scenario = await deliveringScenario()
      const { id } = await started(scenario)
      scenario.git.commit('The same by hand', { [path]: 'Be very kind.\n' })
      service.now += hour
      await scenario.push()
      // Until then, it could be the merge of the pull request.
      await scenario.advance(20)
      await service.storeLiveTexts()
      await judge()
      assert.equal((await trialOf(scenario, id)).ending, 'live')
    })

    test('when a prompt of it is deleted, or no longer delivered', async () => {
      const remove = async ({ tenant }: Scenario) => {
        const [prompt] = await service.store.prompts.named(tenant.organisation.id, path)
        if (prompt) await service.store.prompts.delete(prompt, service.now, operator)
      }
      const excluded = ({ tenant }: Scenario) =>
        service.store.liveTexts.updateSettings(tenant.organisation.id, { excluded: ['**/p.md'] }, 1, operator)
      for (const change of [remove, excluded]) {
        const scenario = await deliveringScenario()
        const { id } = await started(scenario)
        await change(scenario)
        await judge()
        assert.equal((await trialOf(scenario, id)).ending, 'gone')
      }
    })
  })
})
