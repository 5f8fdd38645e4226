import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import pino from 'pino'
import { onOneEngine } from '../../../testing/engines.ts'
import {
  changeTime,
  commitOf,
  judgedChanges,
  postVotes,
  regressionsOf,
  shiftsOf,
} from '../../../testing/judged-votes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, useService } from '../../../testing/service.ts'
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
    const store = {
      ...service.store,
      signals: {
        ...service.store.signals,
        hourlySums: (...[prompt, until]: Parameters<typeof service.store.signals.hourlySums>) => {
          order.push(prompt.organisationId)
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
  })
})
