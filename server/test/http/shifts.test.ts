import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { RegressionBody } from '../../../contract/regressions.ts'
import { shiftPageSchema } from '../../../contract/shifts.ts'
import { addAlert } from '../../../testing/alerts.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import {
  changeTime,
  commitOf,
  judgedChanges,
  postVotes,
  regressionsOf,
  shiftsOf,
} from '../../../testing/judged-votes.ts'
import { openNotifier } from '../../../testing/notifier.ts'
import { deployedEntry, type Tenant, useService } from '../../../testing/service.ts'
import { contentOf } from '../../src/alerts/text.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'
import { day, hour, minute } from '../../src/domain/time.ts'

onOneEngine('Shifts', (engine) => {
  const service = useService(engine)
  before(() => {
    service.planLimits.free = null
  })
  const at = (daysAgo: number) => changeTime(service.now, daysAgo)

  test('a shift has its time, its range, both rates and the change that explains it', async () => {
    const tenant = await service.tenant()
    const [, changed] = await judgedChanges(tenant, [
      { daysAgo: 20, rate: 0.7, count: 3_000 },
      { daysAgo: 8, rate: 0.9, count: 2_000 },
    ])
    const page = await service.app.inject({ url: `${tenant.path}/shifts`, headers: tenant.headers })
    assertMatchesSchema(shiftPageSchema, page)
    const [shift, ...others] = page.json().data
    assert.deepEqual(others, [])
    assert.equal(shift.cause.change.id, changed)
    assert.ok(Math.abs(Date.parse(shift.at) - at(8)) < 6 * hour, shift.at)
    assert.ok(shift.between[0] <= shift.at && shift.at <= shift.between[1])
    assert.ok(Math.abs(shift.rate_before - 0.7) < 0.02 && Math.abs(shift.rate_after - 0.9) < 0.02)
    assert.deepEqual(await shiftsOf(tenant, '/api/v1'), [shift])
  })

  test('shifts are listed by cause, since a time, and since they were found', async () => {
    const tenant = await service.tenant()
    const entry = await tenant.recordEntry({ createdAt: at(9) })
    const shift = {
      between: [at(9), at(1)] as [number, number],
      rateBefore: 0.9,
      rateAfter: 0.6,
      candidates: null,
    }
    const [change, shared, unexplained] = [at(8), at(5), at(2)]
    await service.store.shifts.replace(tenant.prompt, [
      { ...shift, at: change, entryId: entry.id, sharedWith: null, foundAt: at(0.5) },
      { ...shift, at: shared, entryId: entry.id, sharedWith: 3, foundAt: at(4) },
      { ...shift, at: unexplained, entryId: null, sharedWith: null, foundAt: at(1) },
    ])
    const timesOf = async (query: string) => {
      const [ofPrompt, ofAll] = [await shiftsOf(tenant, tenant.path, query), await shiftsOf(tenant, '/api/v1', query)]
      assert.deepEqual(ofPrompt, ofAll)
      return ofAll.map(({ at: moved }) => Date.parse(moved))
    }
    assert.deepEqual(await timesOf(''), [unexplained, shared, change])
    assert.deepEqual(await timesOf('?cause=change'), [change])
    assert.deepEqual(await timesOf('?cause=shared'), [shared])
    assert.deepEqual(await timesOf('?cause=unexplained'), [unexplained])
    assert.deepEqual(await timesOf(`?since=${new Date(shared).toISOString()}`), [unexplained, shared])
    assert.deepEqual(await timesOf(`?cause=unexplained&since=${new Date(unexplained + 1).toISOString()}`), [])
    assert.deepEqual(await timesOf(`?found_since=${new Date(at(1)).toISOString()}`), [unexplained, change])
    assert.deepEqual(
      (await shiftsOf(tenant, '/api/v1')).map(({ found_at }) => Date.parse(found_at)),
      [at(1), at(4), at(0.5)],
    )
    for (const [query, message] of [
      ['cause=weather', /^cause must be one of change, shared, unexplained/],
      ['since=yesterday', /^since/],
      ['found_since=yesterday', /^found_since/],
    ] as const) {
      const response = await service.app.inject({ url: `/api/v1/shifts?${query}`, headers: tenant.headers })
      assertError(response, 422, 'validation_error', message)
    }
  })

  test('a rate that falls with a change and comes back with the next one has two shifts that name both', async () => {
    const tenant = await service.tenant()
    const [, , bad, revert] = await judgedChanges(tenant, [
      { daysAgo: 28, rate: 0.86, count: 1_500 },
      { daysAgo: 22, rate: 0.86, count: 1_500 },
      { daysAgo: 15, rate: 0.73, count: 900 },
      { daysAgo: 10, rate: 0.86, count: 1_500 },
      { daysAgo: 5, rate: 0.86, count: 1_500 },
    ])
    const shifts = await shiftsOf(tenant)
    assert.deepEqual(
      shifts.map(({ cause, at: moved }) => [cause.change?.id, Date.parse(moved)]),
      [
        [revert, at(10)],
        [bad, at(15)],
      ],
    )
    const close = (a: number | undefined, b: number) => Math.abs((a ?? 0) - b) < 0.005
    assert.ok(close(shifts[0]?.rate_before, 0.73) && close(shifts[0]?.rate_after, 0.86))
    for (const { at, between } of shifts) assert.ok((between[0] as string) <= at && at <= (between[1] as string))
    service.judge.touch(tenant.organisation.id, tenant.prompt.id)
    await service.judge.round()
    assert.deepEqual(await shiftsOf(tenant), shifts)
  })

  test('a shift without a change is unexplained, also in votes that were posted at once', async () => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: at(20), commitSha: commitOf(1) })
    await postVotes(tenant, { from: at(19), until: at(10), count: 3_000, rate: 0.9 })
    await postVotes(tenant, { from: at(10), until: at(1), count: 3_000, rate: 0.7 })
    await service.judge.round()
    const [shift] = await shiftsOf(tenant)
    assert.deepEqual(shift?.cause, { unexplained: true })
    assert.ok(Math.abs(Date.parse(shift?.at ?? '') - at(10)) < 6 * hour)
    assert.deepEqual(await regressionsOf(tenant), [])

    const atOnce = await service.tenant()
    await atOnce.recordEntry({ createdAt: at(1), commitSha: commitOf(1) })
    await postVotes(atOnce, { from: service.now - 2_000, until: service.now - 1_000, count: 800, rate: 0.9 })
    await postVotes(atOnce, { from: service.now - 1_000, until: service.now, count: 800, rate: 0.5 })
    await service.judge.round()
    const found = await shiftsOf(atOnce)
    assert.deepEqual(
      found.map(({ cause }) => cause),
      [{ unexplained: true }],
    )
  })

  // Four changes a day: few votes on each, or too few to compare any two of them.
  for (const { votes, rateAfter } of [
    { votes: 30, rateAfter: 0.71 },
    { votes: 12, rateAfter: 0.66 },
  ]) {
    test(`a loss on a prompt with ${votes} votes on each change names the changes that may have caused it, and is listed and told`, async () => {
      const tenant = await service.tenant('free', 'admin')
      await addAlert(service, tenant.organisation.id, { holdMs: 0 })
      const perDay = 4
      const culprit = 10 * perDay + 1
      const ids: number[] = []
      for (let i = 0; i < 19 * perDay; i++) {
        const [from, until] = [i, i + 1].map((n) => at(20) + (n * day) / perDay) as [number, number]
        const commitSha = String(1_000 + i).repeat(10)
        ids.push((await tenant.recordEntry({ createdAt: from, commitSha })).id)
        await postVotes(tenant, { from: from + 1, until, count: votes, rate: i < culprit ? 0.86 : rateAfter })
      }
      await service.judge.round()
      assert.deepEqual(await regressionsOf(tenant), [])
      const [shift, ...others] = await shiftsOf(tenant, '/api/v1', '?cause=unexplained')
      assert.deepEqual(others, [])
      assert.deepEqual(await shiftsOf(tenant), [shift])
      assert.ok(shift?.candidates)
      const { count, changes } = shift.candidates
      assert.ok(count > 2 && count < 20, `${count} candidates`)
      assert.ok(changes.some(({ change }) => change.id === ids[culprit]))
      assert.deepEqual(
        changes,
        changes.toSorted((a, b) => b.share - a.share),
      )
      const sum = changes.reduce((total, { share }) => total + share, 0)
      assert.ok(sum > 0.5 && sum < 1.0001, `${sum} of the votes`)
      const words = `fell from 8\\d% to [5-7]\\d% between .+\\. One of ${count} changes in that time may be the cause\\.`
      assert.match(shift.explanation, new RegExp(words))

      const { notifier } = openNotifier(service)
      await notifier.scan()
      service.now += 6 * minute
      await notifier.round()
      const page = { page: '1', limit: 9 }
      const { deliveries } = await service.store.alertDeliveries.page(tenant.organisation.id, null, page)
      const [told] = deliveries
      assert.equal(told?.event, 'shift.unexplained')
      const { title, prompts } = contentOf(told.message, 'https://ledger.example')
      assert.equal(title, `“${tenant.prompt.name}” got worse with one of ${count} changes`)
      assert.match(prompts[0]?.explanation ?? '', new RegExp(`One of ${count} changes in that time may be the cause`))
    })
  }

  test('a shift that most prompts share is said to be shared, also for the prompts that were judged first', async () => {
    const tenant = await service.tenant()
    const prompts = [tenant.prompt]
    for (const name of ['p2', 'p3', 'p4']) prompts.push(await service.prompt(tenant.organisation, name))
    for (const { publicId: prompt } of prompts) {
      await postVotes(tenant, { from: at(20), until: at(8), count: 3_000, rate: 0.9, prompt })
      await postVotes(tenant, { from: at(8), until: at(1), count: 2_000, rate: 0.7, prompt })
      // One after the other: the first ones cannot know yet.
      await service.judge.round()
    }
    await service.judge.round()
    const shifts = await shiftsOf(tenant, '/api/v1')
    assert.deepEqual(
      shifts.map(({ cause }) => cause),
      prompts.map(() => ({ shared_with: 3 })),
    )
  })

  test('a shift is not shared if prompts that move this often would move at the same time by chance', async () => {
    // Each has shifts of this width, one of them at the time of the fall.
    const fall = async (others: number, width: number, shiftsOfEach: number) => {
      const tenant = await service.tenant()
      const { shifts } = service.store
      for (let i = 0; i < others; i++) {
        const prompt = await service.prompt(tenant.organisation, `p${i}`)
        const list = Array.from({ length: shiftsOfEach }, (_, nth) => {
          const from = at(10) - width / 2 - nth * 6 * day
          const between: [number, number] = [from, from + width]
          return {
            at: from,
            between,
            rateBefore: 0.9,
            rateAfter: 0.7,
            entryId: null,
            sharedWith: null,
            candidates: null,
            foundAt: from,
          }
        })
        await shifts.replace(prompt, list)
      }
      await postVotes(tenant, { from: at(20), until: at(10), count: 2_000, rate: 0.9 })
      await postVotes(tenant, { from: at(10), until: at(1), count: 2_000, rate: 0.7 })
      await service.judge.round()
      return (await shiftsOf(tenant)).map(({ cause }) => cause)
    }
    assert.deepEqual(await fall(3, hour, 1), [{ shared_with: 3 }])
    assert.deepEqual(await fall(3, 5 * day, 4), [{ unexplained: true }])
  })

  test('a change is not blamed for a loss that other prompts share at the same time', async () => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: at(20), commitSha: commitOf(1) })
    await tenant.recordEntry({ createdAt: at(8), commitSha: commitOf(2) })
    const others = []
    for (const name of ['p2', 'p3']) others.push(await service.prompt(tenant.organisation, name))
    for (const { publicId: prompt } of [...others, tenant.prompt]) {
      await postVotes(tenant, { from: at(20), until: at(8), count: 3_000, rate: 0.9, prompt })
      await postVotes(tenant, { from: at(8), until: at(1), count: 2_000, rate: 0.6, prompt })
      await service.judge.round()
    }
    assert.deepEqual(await regressionsOf(tenant), [])
    const response = await service.app.inject({ url: `${tenant.path}/impact`, headers: tenant.headers })
    const [change] = response.json().data
    assert.equal(change.verdict, 'unexplained')
    assert.match(change.explanation, /2 other prompts moved at the same time/)
  })

  test('prompts with too few votes to show a fall do not speak for blaming a change', async () => {
    /** A change with two prompts that fall at the same time without one, and six that have this many votes since. */
    const judgeWith = async (votesSince: number) => {
      const tenant = await service.tenant()
      await tenant.recordEntry({ createdAt: at(20), commitSha: commitOf(1) })
      await tenant.recordEntry({ createdAt: at(8), commitSha: commitOf(2) })
      const names = Array.from({ length: 8 }, (_, i) => `p${i}`)
      for (const [i, name] of names.entries()) {
        const { publicId: prompt } = await service.prompt(tenant.organisation, name)
        const isCalm = i >= 2
        const count = isCalm ? 300 : 2_000
        await postVotes(tenant, { from: at(20), until: at(8), count, rate: 0.9, prompt })
        const since = isCalm ? { count: votesSince, rate: 0.9 } : { count: 1_500, rate: 0.6 }
        await postVotes(tenant, { from: at(8), until: at(1), ...since, prompt })
      }
      await postVotes(tenant, { from: at(20), until: at(8), count: 2_000, rate: 0.9 })
      await postVotes(tenant, { from: at(8), until: at(1), count: 1_500, rate: 0.6 })
      await service.judge.round()
      await service.judge.round()
      return (await regressionsOf(tenant, '?state=open')).length
    }
    assert.equal(await judgeWith(40), 0)
    assert.equal(await judgeWith(400), 1)
  })

  /** Ten prompts that fall at the same time. The first `changed` ones had a change of their own half an hour before. */
  async function outage(tenant: Tenant, changed: number) {
    const prompts = [tenant.prompt]
    while (prompts.length < 10) prompts.push(await service.prompt(tenant.organisation, `p${prompts.length + 1}`))
    let first: RegressionBody[] | null = null
    for (const [i, prompt] of prompts.entries()) {
      const record = (daysAgo: number, sha: number) => {
        const entry = { ...deployedEntry(at(daysAgo) - 30 * minute), commitSha: commitOf(sha) }
        return service.store.history.record(prompt, newHistoryEntry(entry), service.now, null)
      }
      await record(20, 1)
      if (i < changed) await record(8, 2)
      await postVotes(tenant, { from: at(20), until: at(8), count: 1_500, rate: 0.9, prompt: prompt.publicId })
      await postVotes(tenant, { from: at(8), until: at(1), count: 800, rate: 0.6, prompt: prompt.publicId })
      // One after the other, as votes arrive: the first cannot know about the others.
      await service.judge.round()
      first ??= await regressionsOf(tenant)
    }
    await service.judge.round()
    return { prompts, first: first?.[0] }
  }

  test('in an outage, regressions of the prompts that were judged first are withdrawn', async () => {
    const tenant = await service.tenant()
    const { prompts, first } = await outage(tenant, 3)
    assert.equal(first?.state, 'open')
    const regressions = await regressionsOf(tenant, '', '/api/v1')
    assert.ok(regressions.some(({ id }) => id === first.id))
    for (const { state, withdrawn_at, explanation } of regressions) {
      assert.equal(state, 'withdrawn')
      assert.equal(withdrawn_at, new Date(service.now).toISOString())
      assert.match(explanation, /\d other prompts moved at the same time/)
    }
    const shifts = await shiftsOf(tenant, '/api/v1')
    assert.deepEqual(
      shifts.map(({ cause }) => cause),
      prompts.map(() => ({ shared_with: 9 })),
    )
  })

  test('a commit that makes ten prompts worse at once is blamed for all of them', async () => {
    const tenant = await service.tenant()
    const { prompts } = await outage(tenant, 10)
    const regressions = await regressionsOf(tenant, '?state=open', '/api/v1')
    assert.equal(regressions.length, prompts.length)
    const shifts = await shiftsOf(tenant, '/api/v1')
    assert.deepEqual(
      shifts.map(({ cause }) => cause.change?.commit_sha),
      prompts.map(() => commitOf(2)),
    )
  })
})
