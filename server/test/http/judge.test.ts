import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import pino from 'pino'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import {
  changeTime,
  commitOf,
  judgedChanges,
  postVotes,
  regressionsOf,
  shiftsOf,
} from '../../../testing/judged-votes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { deployedEntry, openTestStore, useService } from '../../../testing/service.ts'
import { inBatches } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'
import { eraseSignals, metadataQuery } from '../../src/domain/signals/erasure.ts'
import { day } from '../../src/domain/time.ts'
import { createJudge } from '../../src/service/judge.ts'

onOneEngine('The judge', (engine) => {
  const service = useService(engine)
  before(() => {
    service.planLimits.free = null
  })
  const at = (daysAgo: number) => changeTime(service.now, daysAgo)
  const log = pino({ level: 'debug' }, { write: (line: string) => logged.push(line) })
  const logged: string[] = []

  test('two processes that judge the same votes open one regression', async () => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: at(20), commitSha: commitOf(1) })
    await postVotes(tenant, { from: at(20) + 1, until: at(8), count: 4_000, rate: 0.85 })
    await tenant.recordEntry({ createdAt: at(8), commitSha: commitOf(2) })
    await postVotes(tenant, { from: at(8) + 1, until: at(0), count: 1_200, rate: 0.65 })
    const store = await openTestStore(service.url, () => service.now)
    const another = createJudge({ store, clock: () => service.now, log, restFactor: 0 })
    another.touch(tenant.organisation.id, tenant.prompt.id)
    await Promise.all([service.judge.round(), another.round()])
    const regressions = await regressionsOf(tenant)
    assert.deepEqual(
      regressions.map(({ state }) => state),
      ['open'],
    )
    const shifts = await shiftsOf(tenant)
    assert.equal(shifts.length, 1)
    another.touch(tenant.organisation.id, tenant.prompt.id)
    await another.round()
    assert.deepEqual(await regressionsOf(tenant), regressions, 'judging again changes nothing')
    assert.deepEqual(await shiftsOf(tenant), shifts)
  })

  test('after a restart, the daily sweep of one process finds what was not judged', async () => {
    const tenant = await service.tenant()
    await judgedChanges(tenant, [])
    await tenant.recordEntry({ createdAt: at(20), commitSha: commitOf(1) })
    await postVotes(tenant, { from: at(20) + 1, until: at(8), count: 4_000, rate: 0.85 })
    await tenant.recordEntry({ createdAt: at(8), commitSha: commitOf(2) })
    await postVotes(tenant, { from: at(8) + 1, until: at(0), count: 1_200, rate: 0.65 })
    await queryRows(service.url, 'update sweep set due_at = 0')
    const context = { store: service.store, clock: () => service.now, log, restFactor: 0 }
    const [one, two] = [createJudge(context), createJudge(context)]
    await Promise.all([one.sweep(), two.sweep()])
    assert.equal(one.stats().sweeps + two.stats().sweeps, 1)
    assert.equal(Math.min(one.stats().judged, two.stats().judged), 0, 'the other one judged nothing')
    assert.equal((await regressionsOf(tenant))[0]?.state, 'open')
    await one.sweep()
    assert.equal(one.stats().sweeps + two.stats().sweeps, 1, 'the next one is due in a day')
    service.now += day
    await one.sweep()
    assert.equal(one.stats().sweeps + two.stats().sweeps, 2)
  })

  test('what another process imports or erases is judged in the next round, however old it is, and by one process', async () => {
    await service.judge.round()
    const tenant = await service.tenant()
    const other = await openTestStore(service.url, () => service.now)
    const owner = { organisationId: tenant.organisation.id, promptId: tenant.prompt.id }
    const votes = (from: number, until: number, rate: number) =>
      Array.from({ length: 1_500 }, (_, i) => ({
        ...owner,
        value: Math.floor((i + 1) * rate) > Math.floor(i * rate) ? ('positive' as const) : ('negative' as const),
        metadata: rate < 0.8 && i % 2 === 0 ? '{"user":"u"}' : null,
        createdAt: Math.floor(from + ((until - from) * i) / 1_500),
      }))
    const entries = [300, 250].map((daysAgo, i) =>
      newHistoryEntry({ ...deployedEntry(at(daysAgo)), commitSha: commitOf(i + 1) }),
    )
    await other.history.import(tenant.prompt, inBatches(entries), service.now, operator)
    await other.signals.import(inBatches(votes(at(300), at(250), 0.9), votes(at(250), at(200), 0.6)))
    let judged = 0
    const store = {
      ...service.store,
      signals: {
        ...service.store.signals,
        hourlySums: (...[prompt, until]: Parameters<typeof service.store.signals.hourlySums>) => {
          if (prompt.id === tenant.prompt.id) judged++
          return service.store.signals.hourlySums(prompt, until)
        },
      },
    }
    // Neither looks for what is open, so that only the queue names the prompt.
    const regressions = { ...service.store.regressions, openPrompts: async () => [] }
    const context = { store: { ...store, regressions }, clock: () => service.now, log, restFactor: 0 }
    const [one, two] = [createJudge(context), createJudge(context)]
    await Promise.all([one.round(), two.round()])
    assert.equal(judged, 1)
    assert.equal((await regressionsOf(tenant))[0]?.state, 'open')
    const prompts = await service.app.inject({ url: '/api/v1/prompts?sort=effect', headers: tenant.headers })
    assert.equal(prompts.json().data[0].regression.state, 'open')
    await one.round()
    assert.equal(judged, 1, 'it is judged once')

    const by = { organisationId: tenant.organisation.id, keyId: null as never }
    await eraseSignals(other.signals, by, metadataQuery('{"user":"u"}'), service.now)
    await one.round()
    assert.equal(judged, 2)
  })

  test('a prompt that is changed again while it is judged is judged again', async () => {
    await service.judge.round()
    const tenant = await service.tenant()
    const { sweep } = service.store
    await tenant.fillMonth(30)
    const until = service.now + 1
    const queued = { organisationId: tenant.organisation.id, promptId: tenant.prompt.id }
    assert.deepEqual(await sweep.claimQueued(service.now, until, 10), [queued])
    assert.deepEqual(await sweep.claimQueued(service.now, until, 10), [], 'it is claimed')
    await tenant.fillMonth(30)
    await sweep.finishQueued(queued, until)
    assert.deepEqual(await sweep.claimQueued(service.now, until, 10), [queued])
    await sweep.finishQueued(queued, until)
    assert.deepEqual(await sweep.claimQueued(service.now + day, until, 10), [])
  })

  test('the judge rests in proportion to the processor time that it used, not to the time that it waited', async () => {
    const tenant = await service.tenant()
    let used = 0
    let perCall = 0
    const processorMs = () => {
      used += perCall
      return used
    }
    // Of any time that passes, this would be 10 s.
    const context = { store: service.store, clock: () => service.now, log, restFactor: 1e9, processorMs }
    const judge = createJudge(context)
    await judge.round()
    const startedAt = performance.now()
    judge.touch(tenant.organisation.id, tenant.prompt.id)
    await judge.round()
    assert.ok(performance.now() - startedAt < 9_000)

    perCall = 1
    judge.touch(tenant.organisation.id, tenant.prompt.id)
    const { judged } = judge.stats()
    let isOver = false
    const round = judge.round().then(() => {
      isOver = true
    })
    await eventually(() => judge.stats().judged > judged)
    assert.equal(isOver, false, 'it rests')
    judge.stop()
    await round
  })

  test('a prompt that cannot be judged is retried and does not keep others from being judged', async () => {
    const [broken, tenant] = [await service.tenant(), await service.tenant()]
    await service.judge.round()
    let attempts = 0
    const store = {
      ...service.store,
      signals: {
        ...service.store.signals,
        hourlySums: (...[prompt, until]: Parameters<typeof service.store.signals.hourlySums>) => {
          if (prompt.id === broken.prompt.id) attempts++
          if (prompt.id === broken.prompt.id) throw new Error('the disk is on fire')
          return service.store.signals.hourlySums(prompt, until)
        },
      },
    }
    const judge = createJudge({ store, clock: () => service.now, log, restFactor: 0 })
    await tenant.recordEntry({ createdAt: at(20), commitSha: commitOf(1) })
    await postVotes(tenant, { from: at(20) + 1, until: at(8), count: 4_000, rate: 0.85 })
    await tenant.recordEntry({ createdAt: at(8), commitSha: commitOf(2) })
    await postVotes(tenant, { from: at(8) + 1, until: at(0), count: 1_200, rate: 0.65 })
    judge.touch(broken.organisation.id, broken.prompt.id)
    judge.touch(tenant.organisation.id, tenant.prompt.id)
    for (let round = 0; round < 5; round++) await judge.round()
    assert.equal((await regressionsOf(tenant))[0]?.state, 'open')
    assert.equal(attempts, 3)
    const { judged, failed } = judge.stats()
    assert.ok(judged >= 1)
    assert.equal(failed, 3)
    assert.ok(logged.some((line) => line.includes('could not judge a prompt') && line.includes('disk is on fire')))
  })

  test('organisations take turns, so that one with many prompts does not keep another waiting', async () => {
    const [large, small] = [await service.tenant(), await service.tenant()]
    await service.judge.round()
    const order: number[] = []
    let onJudged = () => {}
    const store = {
      ...service.store,
      signals: {
        ...service.store.signals,
        hourlySums: (...[prompt, until]: Parameters<typeof service.store.signals.hourlySums>) => {
          order.push(prompt.organisationId)
          onJudged()
          return service.store.signals.hourlySums(prompt, until)
        },
      },
    }
    const judge = createJudge({ store, clock: () => service.now, log, restFactor: 0 })
    for (let i = 0; i < 30; i++) {
      const { id } = await service.prompt(large.organisation, `p${i}`)
      judge.touch(large.organisation.id, id)
    }
    judge.touch(small.organisation.id, small.prompt.id)
    await judge.round()
    assert.equal(order.filter((id) => id === large.organisation.id).length, 30)
    assert.ok(order.indexOf(small.organisation.id) <= 10, `${order.indexOf(small.organisation.id)}`)

    // New votes wait for a turn of the other, not for all of its prompts.
    for (const { id } of await service.store.prompts.list(large.organisation.id)) judge.touch(large.organisation.id, id)
    order.length = 0
    onJudged = () => {
      if (order.length === 3) judge.touch(small.organisation.id, small.prompt.id)
    }
    await judge.round()
    assert.ok(order.length > 30)
    const place = order.indexOf(small.organisation.id)
    assert.ok(place > 3 && place <= 10, `${place}`)
  })
})
