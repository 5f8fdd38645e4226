import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { describe, test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { openPull } from '../../../testing/operations.ts'
import { queryRows } from '../../../testing/rows.ts'
import type { Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { path, useTrials } from '../../../testing/trials.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { deliveredPrompts, deliveryIndex } from '../../src/domain/delivery/delivered-prompt.ts'
import { hour } from '../../src/domain/time.ts'
import { armOf } from '../../src/domain/trials/assignment.ts'

onOneEngine('Trials', (engine) => {
  const service = useService(engine)
  const { deliveringScenario, send, started, keyOf, servedTrial, trialOf, judge, eventsOf } = useTrials(service)

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

  test('the text of a candidate is stored until its trial ends, and a trial without room for it does not start', async (t) => {
    const scenario = await deliveringScenario()
    const { id: organisationId } = scenario.tenant.organisation
    const stored = async () => {
      const sql = `select text from delivered_texts where organisation_id = ${organisationId} order by text`
      return (await queryRows(service.url, sql)).map(({ text }) => text)
    }
    const { id } = await started(scenario)
    assert.deepEqual(await stored(), ['Be brief.\n', 'Be kind.\n', 'Be very kind.\n'])
    await send(scenario, 'PATCH', `/trials/${id}`, { state: 'ended' })
    assert.deepEqual(await stored(), ['Be brief.\n', 'Be kind.\n'])
    const { deliveredBytes } = service.repositories
    t.after(() => Object.assign(service.repositories, { deliveredBytes }))
    Object.assign(service.repositories, { deliveredBytes: 25 })
    const refused = await send(scenario, 'POST', '/trials', { pull: 41, share: 0.5 })
    assertError(refused, 409, 'conflict', /25 bytes in one organisation/)
    assert.deepEqual(await stored(), ['Be brief.\n', 'Be kind.\n'])
  })

  test('a trial that ends while a document is written is not in it: its texts are gone', async () => {
    const scenario = await deliveringScenario()
    const { id } = await started(scenario)
    const { organisation } = scenario.tenant
    const index = await deliveryIndex(service.store, { organisationId: organisation.id, prompts: null }, null)
    assert.equal(index.prompts.filter(({ trial }) => trial !== null).length, 1)
    await send(scenario, 'PATCH', `/trials/${id}`, { state: 'ended' })
    const written = await Array.fromAsync(deliveredPrompts(service.store, organisation.id, index))
    assert.deepEqual(
      written.map(({ trial }) => trial),
      written.map(() => null),
    )
  })

  test('a commit of a branch can be tried, and prompts can be chosen', async () => {
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
    const all = await send(scenario, 'POST', '/trials', { commit: commit.toUpperCase(), share: 0.1 })
    assert.equal(all.json().data.prompts.length, 2, all.body)
    assert.equal(all.json().data.commit_sha, commit)
    assert.equal(all.json().data.pr_number, null)
  })

  test("a stranger's commit is served only if someone names it with its pull request", async () => {
    const scenario = await deliveringScenario()
    const { git, forge } = scenario
    const head = await openPull(scenario, 41)
    // The branch is in a fork: only the ref of the pull request has its commits.
    git.push(':pull-41')
    const start = (body: object) => send(scenario, 'POST', '/trials', { share: 0.1, ...body })
    const preview = async () => (await send(scenario, 'GET', '/trials/candidate?pull=41')).json().data
    const shown = await preview()
    assert.deepEqual([shown.commit_sha, shown.from_fork, shown.prompts.length], [head, true, 1])
    for (const body of [{ pull: 41 }, { commit: head }, { pull: 41, commit: head.slice(0, 12) }]) {
      assertError(await start(body), 422, 'validation_error')
    }
    // The stranger pushes after the review.
    git.switchTo('pull-41')
    git.commit('Other', { [path]: 'Hostile.\n' })
    const pushed = git.head()
    git.push('pull-41:refs/pull/41/head')
    git.switchTo('main')
    const facts = { number: 41, head: pushed, openedAt: '2026-11-02T10:00:00Z', at: '2026-11-02T11:00:00Z' }
    await scenario.deliver(forge.pull({ action: 'updated', ...facts }))
    const changed = await start({ pull: 41, commit: shown.commit_sha })
    assertError(changed, 422, 'validation_error')
    assert.match(
      changed.json().error.message,
      new RegExp(`^commit is not the head of pull request 41, which is ${pushed}`),
    )
    assert.equal(await servedTrial(scenario), null)
    assert.equal((await start({ pull: 41, commit: (await preview()).commit_sha })).statusCode, 201)
  })

  test('an organisation has at most two candidates read from git at the same time', async () => {
    const scenario = await deliveringScenario()
    await openPull(scenario, 41)
    const { candidate } = service.repositories
    let [running, most] = [0, 0]
    service.repositories.candidate = async (...request) => {
      most = Math.max(most, ++running)
      return candidate(...request).finally(() => running--)
    }
    const previews = Array.from({ length: 4 }, () => send(scenario, 'GET', '/trials/candidate?pull=41'))
    const statuses = (await Promise.all(previews)).map(({ statusCode }) => statusCode)
    service.repositories.candidate = candidate
    assert.deepEqual(statuses, [200, 200, 200, 200])
    assert.equal(most, 2)
  })

  test('a repository that cannot be read is no unknown commit', async () => {
    const scenario = await deliveringScenario()
    await openPull(scenario, 41)
    renameSync(scenario.git.remote, `${scenario.git.remote}.away`)
    const response = await send(scenario, 'POST', '/trials', { pull: 41, share: 0.1 })
    renameSync(`${scenario.git.remote}.away`, scenario.git.remote)
    assertError(response, 422, 'validation_error')
    assert.match(response.json().error.message, /^pull cannot be read from .*: git ls-remote: .*\. Retry later$/)
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
      [
        { pull: 41, commit: unrelated, share: 0.1 },
        /^commit is not the head of pull request 41, which is [0-9a-f]{40} now/,
      ],
      [{ commit: unrelated.slice(0, 12), share: 0.1 }, /^commit must be a full hash of 40 or 64 digits/],
      [{ pull: 40, share: 0.1 }, /^pull is unknown in /],
      [{ commit: 'f'.repeat(40), share: 0.1 }, /^commit is unknown in /],
      [{ commit: '--upload-pack=x', share: 0.1 }, /^commit must be a full hash/],
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

  test('exposures that are no counts are rejected', async () => {
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
    assert.equal((await send(scenario, 'POST', '/trials/exposures', { ...unknown, exposures: [item] })).statusCode, 204)
  })

  test('an organisation has at most 20 trials at once', async () => {
    const scenario = await deliveringScenario()
    await openPull(scenario, 41)
    const { organisation } = scenario.tenant
    for (let i = 0; i < 20; i++) {
      await queryRows(
        service.url,
        `insert into trials (organisation_id, trial_id, repository_id, commit_sha, state, share, shares, mismatch, started_by, started_at)
         values (${organisation.id}, 'trl_${String(i).padStart(24, '0')}', 1, 'a', 'paused', 0, '[]', 0, 'a', 1)`,
      )
    }
    const response = await send(scenario, 'POST', '/trials', { pull: 41, share: 0.1 })
    assertError(response, 409, 'conflict')
    assert.match(response.json().error.message, /already has 20 trials/)
    await queryRows(service.url, `delete from trials where organisation_id = ${organisation.id}`)
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

    test('when the file of a prompt was deleted, but not because its text is missing, for however long', async () => {
      const scenario = await deliveringScenario()
      const { id } = await started(scenario)
      await queryRows(service.url, 'delete from live_texts')
      renameSync(scenario.git.remote, `${scenario.git.remote}.moved`)
      for (let i = 0; i < 3; i++) {
        await judge()
        service.now += 24 * hour
        await assert.rejects(scenario.sync(), /the repository does not exist/)
      }
      await judge()
      assert.equal((await trialOf(scenario, id)).ending, null)
      renameSync(`${scenario.git.remote}.moved`, scenario.git.remote)
      scenario.git.commit('Remove', { [path]: null })
      service.now += hour
      await scenario.push()
      await scenario.advance(20)
      await service.storeLiveTexts()
      await judge()
      assert.equal((await trialOf(scenario, id)).ending, 'gone')
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
