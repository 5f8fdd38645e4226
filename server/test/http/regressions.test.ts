import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { regressionPageSchema } from '../../../contract/regressions.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import {
  changeTime,
  commitOf,
  judgedChanges,
  postVotes,
  regressionsOf,
  shiftsOf,
} from '../../../testing/judged-votes.ts'
import { openRegression as openRegressionOf } from '../../../testing/regressions.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { day, hour } from '../../src/domain/time.ts'

onOneEngine('Regressions', (engine) => {
  const service = useService(engine)
  before(() => {
    service.planLimits.free = null
  })
  const at = (daysAgo: number) => changeTime(service.now, daysAgo)

  async function dismiss(tenant: Tenant, id: number | string, payload: unknown, headers = tenant.headers) {
    return service.app.inject({
      method: 'POST',
      url: `${tenant.path}/regressions/${id}/dismiss`,
      headers: { ...headers, 'content-type': 'application/json' },
      payload: JSON.stringify(payload),
    })
  }

  test('a change that makes votes worse opens a regression with its figures', async () => {
    const tenant = await service.tenant()
    const [, bad] = await judgedChanges(tenant, [
      { daysAgo: 20, rate: 0.85, count: 4_000 },
      { daysAgo: 8, rate: 0.7 },
    ])
    const [regression, ...others] = await regressionsOf(tenant)
    assert.deepEqual(others, [])
    assert.equal(regression?.state, 'open')
    assert.equal(regression.change.id, bad)
    assert.equal(regression.prompt.id, tenant.prompt.publicId)
    assert.equal(regression.opened_at, new Date(service.now).toISOString())
    assert.ok(Math.abs(regression.rate_before - 0.85) < 0.01 && Math.abs(regression.rate_after - 0.7) < 0.01)
    assert.ok(Math.abs(regression.difference + 0.15) < 0.01)
    const [low, high] = regression.interval as [number, number]
    assert.ok(low < -0.15 && high > -0.15 && high < 0)
    assert.match(regression.explanation, /^70% of 1,200 votes are positive after this change/)
    const { repaired_at, repaired_by, repaired_entry, dismissed_at, dismissed_by, note } = regression
    assert.deepEqual(
      [repaired_at, repaired_by, repaired_entry, dismissed_at, dismissed_by, note],
      [null, null, null, null, null, null],
    )
    const page = await service.app.inject({ url: '/api/v1/regressions?state=open', headers: tenant.headers })
    assertMatchesSchema(regressionPageSchema, page)
    assert.deepEqual(page.json().data, [regression])
  })

  test('a change without an effect opens none', async () => {
    const tenant = await service.tenant()
    await judgedChanges(tenant, [
      { daysAgo: 20, rate: 0.85, count: 2_000 },
      { daysAgo: 8, rate: 0.85 },
      { daysAgo: 4, rate: 0.86 },
    ])
    assert.deepEqual(await regressionsOf(tenant), [])
    assert.deepEqual(await shiftsOf(tenant), [])
  })

  test('a regression stays open when the next harmless change ships', async () => {
    const tenant = await service.tenant()
    const list = [
      { daysAgo: 25, rate: 0.9, count: 4_000 },
      { daysAgo: 12, rate: 0.75 },
    ]
    const [, bad] = await judgedChanges(tenant, list, 6)
    await tenant.recordEntry({ createdAt: at(6), commitSha: commitOf(7) })
    await postVotes(tenant, { from: at(6) + 1, until: at(0), count: 1_200, rate: 0.75 })
    await service.judge.round()
    const regressions = await regressionsOf(tenant)
    assert.deepEqual(
      regressions.map(({ change, state }) => [change.id, state]),
      [[bad, 'open']],
    )
  })

  test('a small loss stays open while the next change shares it', async () => {
    const tenant = await service.tenant()
    await judgedChanges(tenant, [
      { daysAgo: 28, rate: 0.95, count: 6_000 },
      { daysAgo: 15, rate: 0.9, count: 4_000 },
      // Too few to be certain of a loss of 5 points, and enough to exclude 10.
      { daysAgo: 7, rate: 0.9, count: 250 },
    ])
    assert.deepEqual(
      (await regressionsOf(tenant)).map(({ state }) => state),
      ['open'],
    )
  })

  test('a later change that brings the rate back repairs it', async () => {
    const tenant = await service.tenant()
    const list = [
      { daysAgo: 25, rate: 0.85, count: 4_000 },
      { daysAgo: 12, rate: 0.65 },
    ]
    await judgedChanges(tenant, list, 6)
    assert.equal((await regressionsOf(tenant))[0]?.state, 'open')
    const fix = await tenant.recordEntry({ createdAt: at(6), commitSha: commitOf(7) })
    await postVotes(tenant, { from: at(6) + 1, until: at(0), count: 1_200, rate: 0.85 })
    service.now += hour
    await service.judge.round()
    const [regression] = await regressionsOf(tenant, '?state=repaired')
    assert.equal(regression?.repaired_by, 'rate')
    assert.equal(regression.repaired_entry?.id, fix.id)
    assert.equal(regression.repaired_at, new Date(service.now).toISOString())
    assert.ok(regression.opened_at < (regression.repaired_at as string))
    assert.deepEqual(await regressionsOf(tenant, '?state=open'), [])
  })

  test('a partial recovery does not repair it', async () => {
    const tenant = await service.tenant()
    await judgedChanges(tenant, [
      { daysAgo: 25, rate: 0.95, count: 4_000 },
      { daysAgo: 12, rate: 0.5 },
      { daysAgo: 6, rate: 0.7 },
    ])
    assert.deepEqual(
      (await regressionsOf(tenant)).map(({ state }) => state),
      ['open'],
    )
  })

  test('a rate that comes back without a change repairs it only when the votes exclude a notable loss', async () => {
    const tenant = await service.tenant()
    await judgedChanges(tenant, [
      { daysAgo: 28, rate: 0.85, count: 4_000 },
      { daysAgo: 14, rate: 0.7, count: 600 },
    ])
    const [opened] = await regressionsOf(tenant)
    assert.equal(opened?.state, 'open')
    // Late votes on the same change.
    await postVotes(tenant, { from: at(14) + 1, until: at(0), count: 1_500, rate: 0.86 })
    await service.judge.round()
    const [between] = await regressionsOf(tenant)
    await postVotes(tenant, { from: at(14) + 1, until: at(0), count: 12_000, rate: 0.86 })
    await service.judge.round()
    const [after] = await regressionsOf(tenant)
    assert.equal(between?.state, 'open')
    assert.deepEqual([after?.state, after?.repaired_by, after?.repaired_entry], ['repaired', 'rate', null])
  })

  test('a revert in git repairs it, with the entry of the revert', async () => {
    const start = at(20)
    const shipped = (daysLater: number) => new Date(start + daysLater * day)
    const ship = (git: GitRepository, text: string, daysLater: number) =>
      git.commit('Change it', { 'prompts/p.md': text }, { at: shipped(daysLater).toISOString() })
    const scenario = await connectedScenario(service, {
      prepare: (git) => {
        ship(git, 'Be kind.\n', 0)
        git.push()
      },
    })
    const { tenant, git } = scenario
    const prompt = (await service.store.facts.prompts(scenario.repository))[0] as { publicId: string; id: number }
    const path = `/api/v1/prompts/${prompt.publicId}`
    const entries = async () =>
      (await service.app.inject({ url: `${path}/history`, headers: tenant.headers })).json().data
    await postVotes(tenant, { from: start + 1, until: +shipped(5), count: 4_000, rate: 0.85, prompt: prompt.publicId })
    ship(git, 'Be rude.\n', 5)
    await scenario.push()
    await postVotes(tenant, {
      from: +shipped(5) + 1,
      until: +shipped(8),
      count: 1_200,
      rate: 0.6,
      prompt: prompt.publicId,
    })
    await service.judge.round()
    const [opened] = await regressionsOf(tenant, '', path)
    assert.equal(opened?.state, 'open')
    ship(git, 'BE RUDE.\n', 9)
    await scenario.push()
    service.now += hour
    await service.judge.round()
    assert.equal((await regressionsOf(tenant, '', path))[0]?.state, 'open')
    ship(git, 'Be kind.\n', 10)
    await scenario.push()
    // No vote tells the judge: it notices that the history of a prompt with an open regression has grown.
    service.now += hour
    await service.judge.round()
    const [regression] = await regressionsOf(tenant, '', path)
    const [revert] = await entries()
    assert.deepEqual([regression?.state, regression?.repaired_by], ['repaired', 'revert'])
    assert.deepEqual(regression?.repaired_entry, revert)
    assert.deepEqual([regression?.id, regression?.opened_at], [opened.id, opened.opened_at])
  })

  test('a rollback to the version before it repairs it', async () => {
    const tenant = await service.tenant('free', 'admin')
    const [good] = await judgedChanges(tenant, [
      { daysAgo: 20, rate: 0.85, count: 4_000 },
      { daysAgo: 8, rate: 0.65 },
    ])
    assert.equal((await regressionsOf(tenant))[0]?.state, 'open')
    const payload = { environment: 'production', commit_sha: commitOf(1), state: 'success', at: new Date(service.now) }
    const url = `${tenant.path}/deployments`
    const response = await service.app.inject({ method: 'POST', url, headers: tenant.headers, payload })
    assert.equal(response.statusCode, 201, response.body)
    service.now += hour
    await service.judge.round()
    const [regression] = await regressionsOf(tenant)
    assert.deepEqual([regression?.repaired_by, regression?.repaired_entry?.id], ['revert', good])
  })

  async function openRegression() {
    const tenant = await service.tenant()
    await judgedChanges(tenant, [
      { daysAgo: 20, rate: 0.85, count: 4_000 },
      { daysAgo: 8, rate: 0.7 },
    ])
    const [open] = await regressionsOf(tenant)
    const id = open?.id as number
    return { tenant, id }
  }

  test('a dismissed regression says who dismissed it and why, and does not open again', async () => {
    const { tenant, id } = await openRegression()
    const response = await dismiss(tenant, id, { note: 'Shorter answers,\non purpose.' })
    assert.equal(response.statusCode, 200, response.body)
    const { data } = response.json()
    assert.deepEqual(
      [data.state, data.dismissed_by, data.note, data.dismissed_at],
      ['dismissed', 'test', 'Shorter answers,\non purpose.', new Date(service.now).toISOString()],
    )
    assert.deepEqual((await dismiss(tenant, id, { note: 'Again' })).json().data, data, 'the first note stays')
    await postVotes(tenant, { from: at(3), until: at(0), count: 500, rate: 0.5 })
    await service.judge.round()
    assert.deepEqual(await regressionsOf(tenant), [data])
    assert.deepEqual(await regressionsOf(tenant, '?state=open', '/api/v1'), [])
    const prompt = (await service.app.inject({ url: tenant.path, headers: tenant.headers })).json().data
    assert.equal(prompt.regression, null)
  })

  test('a note has to say something, and only an existing open regression can be dismissed', async () => {
    const { tenant, id } = await openRegression()
    for (const note of [undefined, null, 7, '', ' \n', 'x'.repeat(2_001), 'a\0b', '\ud800']) {
      assertError(await dismiss(tenant, id, { note }), 422, 'validation_error')
    }
    for (const unknown of [id + 1_000_000, 'abc', '0', '-1']) {
      assertError(await dismiss(tenant, unknown, { note: 'x' }), 404, 'not_found')
      assertError(await dismiss(tenant, unknown, {}), 404, 'not_found')
    }
    const other = await service.tenant()
    assertError(await dismiss(other, id, { note: 'x' }), 404, 'not_found')
    const reader = { authorization: `Bearer ${await service.key(tenant.organisation, 'reader')}` }
    assertError(await dismiss(tenant, id, { note: 'x' }, reader), 403, 'forbidden')
    assert.equal((await regressionsOf(tenant))[0]?.state, 'open')
    await service.store.regressions.repair(tenant.prompt, id, { at: service.now, by: 'rate', entryId: null })
    assertError(await dismiss(tenant, id, { note: 'x' }), 409, 'conflict')
    for (const path of [`${tenant.path}/regressions`, '/api/v1/regressions']) {
      const url = `${path}?state=broken`
      assertError(await service.app.inject({ url, headers: tenant.headers }), 422, 'validation_error')
    }
  })

  test('a regression that the rate closed opens again, and it follows its commit to another history entry', async () => {
    const tenant = await service.tenant()
    const [, bad] = await judgedChanges(tenant, [
      { daysAgo: 20, rate: 0.85, count: 4_000 },
      { daysAgo: 8, rate: 0.65 },
    ])
    const [open] = await regressionsOf(tenant)
    const id = open?.id as number
    const judgeAgain = async () => {
      service.judge.touch(tenant.organisation.id, tenant.prompt.id)
      await service.judge.round()
      return (await regressionsOf(tenant))[0]
    }
    await service.store.regressions.repair(tenant.prompt, id, { at: service.now, by: 'rate', entryId: null })
    service.now += hour
    const reopened = await judgeAgain()
    assert.deepEqual([reopened?.id, reopened?.state, reopened?.repaired_by], [id, 'open', null])
    assert.equal(reopened?.opened_at, new Date(service.now).toISOString())
    await service.store.regressions.repair(tenant.prompt, id, { at: service.now, by: 'revert', entryId: null })
    assert.equal((await judgeAgain())?.state, 'repaired')
    await queryRows(service.url, `update regressions set entry_id = 987654321 where id = ${id}`)
    assert.equal(await regressionsOf(tenant).then(([first]) => first), undefined, 'its entry is gone')
    const moved = await judgeAgain()
    assert.deepEqual([moved?.id, moved?.change.id, moved?.state], [id, bad, 'repaired'])
  })

  test('a withdrawn regression is listed as withdrawn, cannot be dismissed, and opens again if the verdict is worse again', async () => {
    const { tenant, id } = await openRegression()
    const explanation = 'Other prompts moved too.'
    await service.store.regressions.withdraw(tenant.prompt, id, { at: service.now, explanation })
    const [withdrawn, ...others] = await regressionsOf(tenant, '?state=withdrawn')
    assert.deepEqual(others, [])
    assert.equal(withdrawn?.withdrawn_at, new Date(service.now).toISOString())
    assert.deepEqual(
      [withdrawn.state, withdrawn.explanation, withdrawn.repaired_at, withdrawn.repaired_by],
      ['withdrawn', explanation, null, null],
    )
    assert.deepEqual(await regressionsOf(tenant), [withdrawn])
    for (const state of ['open', 'repaired', 'dismissed']) {
      assert.deepEqual(await regressionsOf(tenant, `?state=${state}`), [])
    }
    assertError(await dismiss(tenant, id, { note: 'x' }), 409, 'conflict')
    service.now += hour
    service.judge.touch(tenant.organisation.id, tenant.prompt.id)
    await service.judge.round()
    const [open] = await regressionsOf(tenant, '?state=open')
    assert.deepEqual([open?.id, open?.withdrawn_at], [id, null])
    assert.equal(open?.opened_at, new Date(service.now).toISOString())
    assert.match(open.explanation, /^70% of 1,200 votes are positive/)
  })

  test('regressions are listed in the order of their opening or of their loss, in both directions', async () => {
    const tenant = await service.tenant()
    const ids: number[] = []
    for (const [i, difference] of [-0.05, -0.3, -0.1].entries()) {
      const commitSha = commitOf(i + 1)
      const opened = await openRegressionOf(tenant, service.now + i, { difference, commitSha })
      ids.push(opened.id)
    }
    const [small, large, middle] = ids
    const order = async (query: string) => (await regressionsOf(tenant, query, '/api/v1')).map(({ id }) => id)
    assert.deepEqual(await order(''), [middle, large, small])
    assert.deepEqual(await order('?sort=opened_at'), [small, large, middle])
    assert.deepEqual(await order('?sort=difference'), [large, middle, small])
    assert.deepEqual(await order('?sort=-difference&state=open'), [small, middle, large])
    assert.deepEqual(await order('?sort=difference&limit=1&page=2'), [middle])
    const response = await service.app.inject({ url: '/api/v1/regressions?sort=size', headers: tenant.headers })
    assertError(response, 422, 'validation_error', /^sort must be one of opened_at/)
  })

  test('prompts with an open regression come first, the largest loss first', async () => {
    const tenant = await service.tenant('free', 'admin')
    const names = ['a calm', 'b small', 'c large', 'd calm']
    for (const [i, name] of names.entries()) {
      const prompt = await service.prompt(tenant.organisation, name)
      const difference = [0, -0.05, -0.2, 0][i] as number
      if (difference === 0) continue
      const entry = await service.store.history.record(
        prompt,
        { ...(await tenant.recordEntry()), dedupeKey: name },
        service.now,
        null,
      )
      const signals = { signalsBefore: 900, signalsAfter: 80, liveFrom: 4 }
      const figures = {
        rateBefore: 0.9,
        rateAfter: 0.9 + difference,
        difference,
        explanation: 'Worse.',
        evidence: 2,
        ...signals,
      }
      await service.store.regressions.open(prompt, entry, { ...figures, interval: [-0.3, -0.01] }, service.now)
    }
    const list = async (sort: string) => {
      const url = `/api/v1/prompts?sort=${sort}`
      return (await service.app.inject({ url, headers: tenant.headers })).json().data as {
        name: string
        regression: { difference: number } | null
      }[]
    }
    const ascending = await list('regression')
    assert.deepEqual(
      ascending.map(({ name, regression }) => [name, regression?.difference ?? null]),
      [
        ['c large', -0.2],
        ['b small', -0.05],
        ['a calm', null],
        ['d calm', null],
        ['prompts/a.md', null],
      ],
    )
    assert.deepEqual((await list('-regression')).map(({ name }) => name).slice(0, 2), ['b small', 'c large'])
  })

  test('a regression is withdrawn when its votes are erased, and when its change leaves the history', async () => {
    const tenant = await service.tenant('free', 'admin')
    const metadata = { user: 'spammer' }
    await tenant.recordEntry({ createdAt: at(20), commitSha: commitOf(1) })
    await postVotes(tenant, { from: at(20) + 1, until: at(8), count: 4_000, rate: 0.85 })
    await tenant.recordEntry({ createdAt: at(8), commitSha: commitOf(2) })
    await postVotes(tenant, { from: at(8) + 1, until: at(0), count: 1_200, rate: 0.7, metadata })
    await service.judge.round()
    assert.equal((await regressionsOf(tenant))[0]?.state, 'open')
    const url = '/api/v1/signals/erase'
    const erased = await service.app.inject({ method: 'POST', url, headers: tenant.headers, payload: { metadata } })
    assert.deepEqual(erased.json().data, { erased: 1_200 })
    // No vote tells the judge: it judges prompts with open regressions every few minutes.
    service.now += hour
    await service.judge.round()
    const [withdrawn] = await regressionsOf(tenant)
    assert.deepEqual([withdrawn?.state, withdrawn?.withdrawn_at], ['withdrawn', new Date(service.now).toISOString()])
    assert.match(withdrawn?.explanation ?? '', /A comparison needs 20 on each side/)

    const other = await openRegression()
    const { prompt, organisation } = other.tenant
    await queryRows(
      service.url,
      `update regressions set entry_id = 987654321, commit_sha = 'abcdef' where id = ${other.id}`,
    )
    service.judge.touch(organisation.id, prompt.id)
    await service.judge.round()
    const stored = (await service.store.regressions.ofPrompt(prompt)).find((regression) => regression.id === other.id)
    assert.equal(stored?.state, 'withdrawn')
    assert.match(stored.explanation, /no longer part of the history/)
  })

  test('a regression stays open, with its figures and its shift, while the evidence is only too weak for a verdict', async () => {
    const tenant = await service.tenant()
    const [, bad] = await judgedChanges(tenant, [
      { daysAgo: 28, rate: 0.85, count: 4_000 },
      { daysAgo: 14, rate: 0.75, count: 400 },
    ])
    const [opened] = await regressionsOf(tenant)
    assert.deepEqual([opened?.state, opened?.change.id], ['open', bad])
    const [shift] = await shiftsOf(tenant)
    await postVotes(tenant, { from: at(14) + 1, until: at(0), count: 800, rate: 0.85 })
    await service.judge.round()
    const response = await service.app.inject({ url: `${tenant.path}/impact`, headers: tenant.headers })
    assert.notEqual(response.json().data[0].verdict, 'worse')
    assert.deepEqual(await regressionsOf(tenant), [opened])
    const [kept, ...others] = await shiftsOf(tenant)
    assert.deepEqual(others, [])
    assert.deepEqual([kept?.cause, kept?.rate_after], [shift?.cause, shift?.rate_after])
  })

  test('shifts and regressions of a deleted prompt, or one that a key is not for, are not listed', async () => {
    const tenant = await service.tenant('free', 'admin')
    await judgedChanges(tenant, [
      { daysAgo: 20, rate: 0.85, count: 4_000 },
      { daysAgo: 8, rate: 0.65 },
    ])
    const create = async (prompts: string) => {
      const payload = { name: 'limited', role: 'reader', prompts }
      const response = await service.app.inject({
        method: 'POST',
        url: '/api/v1/keys',
        headers: tenant.headers,
        payload,
      })
      return { authorization: `Bearer ${response.json().data.key}` }
    }
    const counts = async (headers: Record<string, string>) =>
      Promise.all(
        ['shifts', 'regressions'].map(async (list) => {
          const { data, pagination } = (await service.app.inject({ url: `/api/v1/${list}`, headers })).json()
          assert.equal(data.length, pagination.total_count)
          return data.length
        }),
      )
    assert.deepEqual(await counts(tenant.headers), [1, 1])
    assert.deepEqual(await counts(await create('prompts/**')), [1, 1])
    assert.deepEqual(await counts(await create('other/**')), [0, 0])
    await service.app.inject({ method: 'DELETE', url: tenant.path, headers: tenant.headers })
    assert.deepEqual(await counts(tenant.headers), [0, 0])
  })
})
