import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EffectBody, SegmentsBody } from '../../../contract/impact.ts'
import { assertError } from '../../../testing/assertions.ts'
import { postDeployment } from '../../../testing/deployments.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type Random, seededRandom } from '../../../testing/random.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { day, isoTime } from '../../src/domain/time.ts'

type ChangeBody = EffectBody & { segments?: SegmentsBody | null }

interface Sent {
  value: 'positive' | 'negative'
  metadata?: object
  voter?: string
}

const batchSize = 500
const key = 'gen_ai.request.model'

onOneEngine('The impact in segments', (engine) => {
  const service = useService(engine)
  const start = Date.parse('2026-10-20T00:00:00.000Z')
  const change = start + 10 * day

  /** A prompt with two changes, ten days apart, and a declared segment. */
  async function promptWithChange(...keys: string[]): Promise<Tenant> {
    const tenant = await service.tenant('business', 'admin')
    await tenant.recordEntry({ createdAt: start, commitSha: 'a1'.repeat(20) })
    await tenant.recordEntry({ createdAt: change, commitSha: 'b2'.repeat(20) })
    const { headers } = tenant
    if (keys.length > 0) {
      const url = '/api/v1/segments'
      const declared = await service.app.inject({ method: 'PUT', url, headers, payload: { keys } })
      assert.equal(declared.statusCode, 200, declared.body)
    }
    return tenant
  }

  /** Sends votes through the API, evenly spread over ten days. */
  async function send(tenant: Tenant, from: number, votes: Sent[]): Promise<void> {
    for (let at = 0; at < votes.length; at += batchSize) {
      const signals = votes.slice(at, at + batchSize).map((vote, i) => ({
        prompt: tenant.prompt.publicId,
        ...vote,
        occurred_at: isoTime(from + Math.floor(((at + i) * 9 * day) / votes.length)),
      }))
      const response = await service.app.inject({
        method: 'POST',
        url: '/api/v1/signals',
        headers: tenant.headers,
        payload: { signals },
      })
      const { data } = response.json()
      assert.ok(
        data.every(({ status }: { status: number }) => status === 201),
        response.body,
      )
    }
  }

  async function impactOf(tenant: Tenant, query = ''): Promise<ChangeBody> {
    const { headers } = tenant
    const response = await service.app.inject({ url: `${tenant.path}/impact${query}`, headers })
    assert.equal(response.statusCode, 200, response.body)
    return response.json().data[0]
  }

  function segmentsOf({ segments }: ChangeBody): SegmentsBody {
    assert.ok(segments)
    return segments
  }

  function valueBy(random: Random, rate: number): Sent['value'] {
    return random() < rate ? 'positive' : 'negative'
  }

  /** Two models with rates of their own. */
  function votesOfModels(random: Random, count: number, share: number, rates: [number, number]): Sent[] {
    return Array.from({ length: count }, () => {
      const isFirst = random() < share
      return { value: valueBy(random, rates[isFirst ? 0 : 1]), metadata: { model: isFirst ? 'large' : 'small', n: 1 } }
    })
  }

  test('a new model in metadata or a deployment acquits the change if the model did it, and not if the change did it', async () => {
    const switched = change + 2 * day
    // The model changes two days after the prompt. Each vote names the model.
    async function planted(culprit: 'model' | 'prompt', ...keys: string[]): Promise<Tenant> {
      const random = seededRandom(3)
      const votes = (from: number) =>
        Array.from({ length: 1_500 }, (_, i): Sent => {
          const at = from + (i * 9 * day) / 1_500
          const model = at < switched ? 'large-1' : 'large-2'
          const metadata = { model, 'gen_ai.request.model': model }
          return { value: valueBy(random, at < (culprit === 'model' ? switched : change) ? 0.85 : 0.7), metadata }
        })
      const tenant = await promptWithChange(...keys)
      await send(tenant, start, votes(start))
      await send(tenant, change, votes(change))
      return tenant
    }
    async function modelsOf({ path, headers }: Tenant): Promise<object[]> {
      const plain = (await service.app.inject({ url: `${path}/timeline`, headers })).json()
      assert.equal('model_changes' in plain, false)
      return (await service.app.inject({ url: `${path}/timeline?model_changes=true`, headers })).json().model_changes
    }
    const named = { action: 'model_changed', old_model: 'large-1', new_model: 'large-2' }
    const [guilty, acquitted] = [await planted('prompt', 'model', key), await planted('model', key)]
    assert.equal((await impactOf(guilty)).verdict, 'worse')
    const { verdict, explanation } = await impactOf(acquitted)
    assert.equal(verdict, 'unexplained')
    assert.match(
      explanation,
      /but the model that the metadata of votes names changed around 2026-11-01 00:00 UTC, which explains/,
    )
    for (const tenant of [guilty, acquitted]) {
      assert.deepEqual(await modelsOf(tenant), [{ ...named, created_at: isoTime(switched), source: 'signals' }])
    }

    const [worse, deployed] = [await planted('prompt'), await planted('model')]
    assert.deepEqual(await modelsOf(deployed), [])
    for (const tenant of [worse, deployed]) {
      const deploy = async (commit_sha: string, at: number, model: string) => {
        const path = `/prompts/${tenant.prompt.publicId}`
        const body = { commit_sha, at: isoTime(at), model }
        assert.equal((await postDeployment(service, tenant, path, body)).statusCode, 201)
      }
      await deploy('a1'.repeat(20), start, 'large-1')
      await deploy('b2'.repeat(20), change, 'large-1')
      await deploy('b2'.repeat(20), switched, 'large-2')
      assert.deepEqual(await modelsOf(tenant), [{ ...named, created_at: isoTime(switched), source: 'deployments' }])
    }
    assert.equal((await impactOf(worse)).verdict, 'worse')
    const ofDeployed = await impactOf(deployed)
    assert.equal(ofDeployed.verdict, 'unexplained')
    assert.match(
      ofDeployed.explanation,
      /but the model changed from "large-1" to "large-2" around 2026-11-01 00:00 UTC/,
    )
    const history = await service.app.inject({ url: `${deployed.path}/history`, headers: deployed.headers })
    assert.deepEqual([history.json().data.length, history.body.includes('model')], [2, false])
  })

  test('a link that shows no signals shows no model of their metadata', async () => {
    const tenant = await promptWithChange(key)
    for (const [from, model] of [
      [start, 'secret-1'],
      [change, 'secret-2'],
    ] as const) {
      await send(
        tenant,
        from,
        Array.from({ length: 100 }, (_, i) => ({
          value: i % 10 === 0 ? 'negative' : 'positive',
          metadata: { [key]: model },
        })),
      )
    }
    const modelsFor = async (includes_signals: boolean) => {
      const shared = await service.app.inject({
        method: 'POST',
        url: `${tenant.path}/shares`,
        headers: tenant.headers,
        payload: { includes_signals },
      })
      const headers = { authorization: `Bearer ${new URL(shared.json().data.url).hash.slice(1)}` }
      const response = await service.app.inject({ url: `${tenant.path}/timeline?model_changes=true`, headers })
      assert.equal(response.statusCode, 200, response.body)
      return response.json().model_changes
    }
    assert.equal((await modelsFor(true)).length, 1)
    assert.deepEqual(await modelsFor(false), [])
  })

  test('a fall that comes from a different audience is not blamed on the change if the segment is declared', async () => {
    const random = seededRandom(1)
    const [before, after] = [
      votesOfModels(random, 3_000, 0.7, [0.95, 0.4]),
      votesOfModels(random, 3_000, 0.5, [0.95, 0.4]),
    ]
    const undeclared = await promptWithChange()
    const declared = await promptWithChange('model')
    for (const tenant of [undeclared, declared]) {
      await send(tenant, start, before)
      await send(tenant, change, after)
    }
    assert.equal((await impactOf(undeclared)).verdict, 'worse')
    const { verdict, explanation } = await impactOf(declared)
    assert.equal(verdict, 'unexplained')
    assert.match(
      explanation,
      /distributed differently over "model", which makes 1\d points of the difference\. For the same "model"/,
    )
    const timeline = await service.app.inject({ url: `${declared.path}/timeline`, headers: declared.headers })
    assert.equal(timeline.json().data[0].impact.verdict, 'unexplained')
    const prompt = await service.app.inject({ url: declared.path, headers: declared.headers })
    assert.equal(prompt.json().data.verdict, 'unexplained')
    const { key, complete, mix, values } = segmentsOf(await impactOf(declared, '?by=metadata.model'))
    assert.deepEqual([key, complete], ['model', true])
    assert.ok(mix !== null && mix.audience < -0.08 && Math.abs(mix.within) < 0.03, JSON.stringify(mix))
    assert.deepEqual(values.map(({ value }) => value).sort(), ['large', 'small'])
    for (const { verdict } of values) assert.ok(verdict === 'no_difference_seen' || verdict === 'too_little_data')
  })

  test('a fall within every segment is still worse while the audience changes', async () => {
    const random = seededRandom(2)
    const tenant = await promptWithChange('model')
    await send(tenant, start, votesOfModels(random, 3_000, 0.7, [0.95, 0.8]))
    await send(tenant, change, votesOfModels(random, 3_000, 0.5, [0.8, 0.6]))
    const impact = await impactOf(tenant, '?by=metadata.model')
    assert.equal(impact.verdict, 'worse')
    assert.deepEqual(
      segmentsOf(impact).values.map(({ verdict }) => verdict),
      ['worse', 'worse'],
    )
  })

  test('a fall in one of 20 segments is found, and the others are not', async () => {
    const random = seededRandom(3)
    const tenant = await promptWithChange('model')
    const names = Array.from({ length: 20 }, (_, i) => `model ${i}`)
    const votes = (rateOf: (i: number) => number) =>
      Array.from({ length: 20 * 400 }, (_, i): Sent => {
        return { value: valueBy(random, rateOf(i % 20)), metadata: { model: names[i % 20] } }
      })
    await send(
      tenant,
      start,
      votes(() => 0.85),
    )
    await send(
      tenant,
      change,
      votes((i) => (i === 7 ? 0.5 : 0.85)),
    )
    const { values, complete } = segmentsOf(await impactOf(tenant, '?by=metadata.model'))
    assert.deepEqual([values.length, complete], [20, true])
    const decided = values.filter(({ verdict }) => verdict === 'better' || verdict === 'worse')
    assert.deepEqual(
      decided.map(({ value, verdict }) => [value, verdict]),
      [['model 7', 'worse']],
    )
    const [found] = decided as [(typeof values)[number]]
    assert.equal(found.before.positive + found.before.negative, 400)
    assert.ok((found.difference as number) < -0.25 && ((found.interval as number[])[1] as number) < 0)
    assert.match(found.explanation, /^5\d% of 400 votes are positive after this change/)
  })

  test('values beyond the first 20 are pooled, and signals without a value are a segment of their own', async () => {
    const tenant = await promptWithChange('model')
    const votes = (last: number): Sent[] => [
      ...Array.from({ length: 25 }, (_, i) => i).flatMap((i) =>
        Array.from({ length: 30 - i }, (): Sent => ({ value: 'positive', metadata: { model: i } })),
      ),
      ...Array.from({ length: last }, (): Sent => ({ value: 'negative' })),
    ]
    await send(tenant, start, votes(3))
    await send(tenant, change, [...votes(4), { value: 'positive', metadata: { model: 'new' } }])
    const { values } = segmentsOf(await impactOf(tenant, '?by=metadata.model'))
    const sizes = values.map(({ value, other, before, after }) => [
      value,
      other,
      before.positive + before.negative,
      after.positive + after.negative,
    ])
    assert.deepEqual(sizes.slice(0, 2), [
      ['0', false, 30, 30],
      ['1', false, 29, 29],
    ])
    assert.deepEqual(sizes.slice(19), [
      ['19', false, 11, 11],
      [null, true, 10 + 9 + 8 + 7 + 6, 10 + 9 + 8 + 7 + 6 + 1],
      [null, false, 3, 4],
    ])
  })

  test('the segments of a time in the past are those of the votes until then', async () => {
    const random = seededRandom(4)
    const tenant = await promptWithChange('model')
    await send(tenant, start, votesOfModels(random, 200, 0.5, [0.9, 0.6]))
    await send(tenant, change, votesOfModels(random, 200, 0.5, [0.9, 0.6]))
    const asOf = isoTime(change + 4.5 * day - 1)
    const { values } = segmentsOf(await impactOf(tenant, `?by=metadata.model&as_of=${asOf}`))
    const after = values.reduce((sum, { after }) => sum + after.positive + after.negative, 0)
    assert.equal(after, 100)
  })

  test('a key that is not declared gets 422, which says how to declare it', async () => {
    const tenant = await promptWithChange('locale')
    const get = (query: string) => service.app.inject({ url: `${tenant.path}/impact${query}`, headers: tenant.headers })
    const undeclared =
      /not declared\. An admin can declare it with PUT \/api\/v1\/segments and {"keys": \["locale","model"\]}$/
    assertError(await get('?by=metadata.model'), 422, 'validation_error', undeclared)
    assertError(await get('?by=model'), 422, 'validation_error', /^by must be metadata\./)
    assertError(await get('?by=metadata.'), 422, 'validation_error', /^by must be metadata\./)
    assert.equal((await get('?by=metadata.locale&limit=50')).json().pagination.per_page, 10)
    assert.equal((await get('?by=metadata.locale')).json().data.at(-1).segments, null)
    assert.ok(!('segments' in (await get('')).json().data[0]))
  })

  test('ten votes by each voter count as one in the verdict and in effective_signals', async () => {
    const random = seededRandom(5)
    // Each voter always votes the same, so 1,000 votes say as much as 100.
    const votesBy = (prefix: string, rate: number) =>
      Array.from({ length: 100 }, (_, i) => {
        const value = valueBy(random, rate)
        return Array.from({ length: 10 }, (): Sent => ({ value, voter: `${prefix} ${i}` }))
      })
    // Every voter votes once before anyone votes again.
    const inTurns = (votes: Sent[][]) =>
      Array.from({ length: 10 }, (_, turn) => votes.map((of) => of[turn] as Sent)).flat()
    const [before, after] = [inTurns(votesBy('a', 0.8)), inTurns(votesBy('b', 0.6))]
    const [named, unnamed] = [await promptWithChange(), await promptWithChange()]
    const withoutVoter = (votes: Sent[]) => votes.map(({ value }): Sent => ({ value }))
    await send(named, start, before)
    await send(named, change, after)
    await send(unnamed, start, withoutVoter(before))
    await send(unnamed, change, withoutVoter(after))
    const [oneVoter, allVotes] = [await impactOf(named), await impactOf(unnamed)]
    assert.equal(allVotes.verdict, 'worse')
    assert.ok(allVotes.effective_signals > 1_000)
    assert.deepEqual(oneVoter.after, allVotes.after)
    assert.notEqual(oneVoter.verdict, 'worse')
    assert.ok(oneVoter.effective_signals <= 200, String(oneVoter.effective_signals))
    // A closed window is remembered, and one that grows is counted again.
    await send(named, change, after)
    assert.ok((await impactOf(named)).effective_signals <= 200)
  })
})
