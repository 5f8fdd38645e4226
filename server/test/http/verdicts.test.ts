import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { EffectBody } from '../../../contract/impact.ts'
import { assertError } from '../../../testing/assertions.ts'
import { postDeployment } from '../../../testing/deployments.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { seededRandom } from '../../../testing/random.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { canary, fakeChange, lateVotes, rates, readStatements, type Source, steady } from '../../../testing/votes.ts'
import { day, minute } from '../../src/domain/time.ts'

const [oldSha, newSha] = ['a'.repeat(40), 'b'.repeat(40)]
const batchSize = 1_000

interface Placed {
  at: number
  isPositive: boolean
  isNew: boolean
}

onOneEngine('The verdict on a change', (engine) => {
  const service = useService(engine)
  before(() => {
    service.planLimits.free = null
  })

  async function post(tenant: Tenant, votes: Placed[], withVersion = false): Promise<void> {
    for (let from = 0; from < votes.length; from += batchSize) {
      const signals = votes.slice(from, from + batchSize).map(({ at, isPositive, isNew }) => ({
        prompt: tenant.prompt.publicId,
        value: isPositive ? 'positive' : 'negative',
        occurred_at: new Date(at).toISOString(),
        ...(withVersion && { version: isNew ? newSha : oldSha }),
      }))
      const response = await service.app.inject({
        method: 'POST',
        url: '/api/v1/signals',
        headers: tenant.headers,
        payload: { signals },
      })
      assert.equal(response.statusCode, 200, response.body)
      assert.ok(response.json().data.every(({ status }: { status: number }) => status === 201))
    }
  }

  /** Draws votes, evenly stretched over the time until now, and records two changes: before all votes, and in between. */
  async function history(source: Source, seed: number, { length = 25 * day, withVersion = false } = {}) {
    const tenant = await service.tenant('free', 'admin')
    const { votes, change } = source(seededRandom(seed))
    const [first, last] = [votes[0]?.at ?? 0, votes.at(-1)?.at ?? 0]
    const from = service.now - length
    const timeOf = (at: number) => Math.floor(from + ((at - first) / (last - first + 1)) * length)
    const placed = votes.map((vote) => ({ ...vote, at: timeOf(vote.at) }))
    const changedAt = placed[change]?.at as number
    await tenant.recordEntry({ createdAt: from - minute, commitSha: oldSha })
    await tenant.recordEntry({ createdAt: changedAt, commitSha: newSha })
    await post(tenant, placed, withVersion)
    return { tenant, votes: placed, change, changedAt }
  }

  async function impacts(tenant: Tenant, query = ''): Promise<EffectBody[]> {
    const response = await service.app.inject({ url: `${tenant.path}/impact${query}`, headers: tenant.headers })
    assert.equal(response.statusCode, 200, response.body)
    return response.json().data
  }

  async function impact(tenant: Tenant, query = ''): Promise<EffectBody> {
    return (await impacts(tenant, query))[0] as EffectBody
  }

  test('a fall is worse, and one sentence says what it rests on', async () => {
    const { tenant } = await history(steady(2_000, 1_000, rates(0.85, 0.7)), 1)
    const { verdict, explanation, effective_signals, attributed_by, difference, interval } = await impact(tenant)
    assert.equal(verdict, 'worse')
    assert.match(
      explanation,
      /^\d+% of 1,000 votes are positive after this change, \d+% of 2,000 votes before it\. A fall of this size/,
    )
    assert.deepEqual(attributed_by, { version: 0, deployment: 0, time: 3_000 })
    assert.ok(effective_signals > 500 && effective_signals <= 3_000, `${effective_signals}`)
    assert.ok(interval !== null && (interval[0] as number) < (difference as number) && (interval[1] as number) < 0)
  })

  test('a rate that falls slowly all the time is unexplained, not worse', async () => {
    const { tenant } = await history(
      steady(1_500, 1_500, () => (i) => 0.95 - (0.35 * i) / 3_000),
      2,
    )
    const { verdict, explanation, effective_signals, before, after } = await impact(tenant)
    assert.ok((before.rate as number) - (after.rate as number) > 0.1)
    assert.equal(verdict, 'unexplained')
    assert.match(
      explanation,
      /votes on this prompt may drift this far|the rate moved around .* UTC, not with this change/,
    )
    assert.ok(effective_signals < 1_500, `${effective_signals}`)
  })

  test('few votes are too little data', async () => {
    const { tenant } = await history(steady(15, 15, rates(0.9, 0.2)), 3)
    const { verdict, explanation } = await impact(tenant)
    assert.equal(verdict, 'too_little_data')
    assert.match(explanation, /15 votes/)
  })

  test('the list of prompts, the timeline and the impact say the same', async () => {
    const { tenant } = await history(steady(2_000, 1_000, rates(0.85, 0.7)), 4)
    const get = async (path: string) => (await service.app.inject({ url: path, headers: tenant.headers })).json().data
    const { entry, ...effect } = (await get(`${tenant.path}/impact`))[0]
    const [listed] = await get('/api/v1/prompts')
    const [newest] = await get(`${tenant.path}/timeline`)
    assert.equal(listed.verdict, effect.verdict)
    assert.equal(newest.entry.id, entry.id)
    assert.deepEqual(newest.impact, effect)
  })

  test('late votes count for the version that they name', async () => {
    const source = lateVotes(2_000, 1_500, 0.85, 0.7, 300)
    const [byVersion, byTime] = [
      await history(source, 5, { withVersion: true }),
      await history(source, 5, { withVersion: false }),
    ]
    const found = await impact(byVersion.tenant)
    assert.equal(found.verdict, 'worse')
    assert.deepEqual(found.attributed_by, { version: 3_500, deployment: 0, time: 0 })
    assert.equal(found.after.positive + found.after.negative, 1_500)
    assert.ok((found.difference as number) < ((await impact(byTime.tenant)).difference as number))
  })

  test('a canary with a tenth of the traffic is judged by the votes on its version', async () => {
    const { tenant, changedAt } = await history(canary(2_000, 4_000, 0.85, 0.7, 0.1), 6, { withVersion: true })
    const path = `/prompts/${tenant.prompt.publicId}`
    const deploy = async (commit_sha: string, at: number, share: number) => {
      const body = { commit_sha, at: new Date(at).toISOString(), share }
      const response = await postDeployment(service, tenant, path, body)
      assert.equal(response.statusCode, 201, response.body)
    }
    await deploy(oldSha, service.now - 25 * day - minute, 1)
    await deploy(newSha, changedAt, 0.1)
    const { verdict, attributed_by, after, before } = await impact(tenant)
    assert.equal(verdict, 'worse')
    assert.equal(attributed_by.version, 6_000)
    assert.ok(after.positive + after.negative < 500 && before.positive + before.negative > 5_500)
  })

  test('votes that all come within one hour are judged one by one', async () => {
    const { tenant } = await history(steady(600, 400, rates(0.9, 0.5)), 7, { length: 10 * minute })
    assert.equal((await impact(tenant)).verdict, 'worse')
    const { tenant: drifting } = await history(
      steady(600, 400, () => (i) => 0.95 - (0.5 * i) / 1_000),
      8,
      { length: 10 * minute },
    )
    assert.equal((await impact(drifting)).verdict, 'unexplained')
  })

  test('an impact as of a time is what was said then', async () => {
    // Within an hour, so that some of its votes come before and some after.
    service.now += 37 * minute + 1
    const then = service.now
    const { tenant, changedAt } = await history(steady(1_500, 800, rates(0.85, 0.7)), 9, { withVersion: true })
    await post(
      tenant,
      Array.from({ length: 24 }, (_, i) => ({ at: then - i * minute, isPositive: i % 4 > 0, isNew: true })),
    )
    const said = await impacts(tenant)
    const timeline = await service.app.inject({ url: `${tenant.path}/timeline`, headers: tenant.headers })
    service.now += 3 * day
    await post(
      tenant,
      Array.from({ length: 500 }, (_, i) => ({ at: then + i + 1, isPositive: true, isNew: true })),
      true,
    )
    await tenant.recordEntry({ createdAt: then + day, commitSha: 'c'.repeat(40) })
    const query = `?as_of=${new Date(then).toISOString()}`
    assert.notDeepEqual(await impacts(tenant), said)
    assert.deepEqual(await impacts(tenant, query), said)
    const asOf = await service.app.inject({ url: `${tenant.path}/timeline${query}`, headers: tenant.headers })
    assert.deepEqual(asOf.json(), timeline.json())
    const beforeChange = await impacts(tenant, `?as_of=${new Date(changedAt - 1).toISOString()}`)
    assert.equal(beforeChange.length, 1)
    assert.equal(beforeChange[0]?.live_until, null)
  })

  test('as_of in the future, or not a time, is rejected', async () => {
    const tenant = await service.tenant()
    for (const path of ['impact', 'timeline']) {
      const get = (asOf: string) =>
        service.app.inject({ url: `${tenant.path}/${path}?as_of=${asOf}`, headers: tenant.headers })
      assertError(await get(new Date(service.now + 1).toISOString()), 422, 'validation_error')
      assertError(await get('yesterday'), 422, 'validation_error')
      assert.equal((await get(new Date(service.now).toISOString())).statusCode, 200)
    }
  })

  test('no fake change among real votes is blamed, however often one looks', async () => {
    const statements = readStatements().filter(({ id }) => id % 13 === 0)
    assert.ok(statements.length >= 4)
    let looks = 0
    for (const { id, votes } of statements) {
      // As they came, and all at once.
      for (const length of [25 * day, 30 * minute]) {
        const { tenant, votes: placed, change } = await history(fakeChange(votes), id, { length })
        for (let i = change + 20; i <= placed.length; i += 40) {
          const { verdict } = await impact(tenant, `?as_of=${new Date(placed[i - 1]?.at as number).toISOString()}`)
          assert.ok(verdict !== 'better' && verdict !== 'worse', `statement ${id}, ${i} votes: ${verdict}`)
          looks++
        }
      }
    }
    assert.ok(looks > 50, `${looks}`)
  })
})
