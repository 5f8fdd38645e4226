import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { changeTime, commitOf, postVotes } from '../../../testing/judged-votes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { deployedEntry, type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'
import type { Ranking } from '../../src/domain/impact/ranking.ts'
import { day, hour } from '../../src/domain/time.ts'
import { namesOf, promptRequests } from './prompt-requests.ts'

onEachEngine('The worst prompts first', (engine) => {
  const service = useService(engine)
  const { list, tenantWith } = promptRequests(service)
  before(() => {
    service.planLimits.free = null
  })

  /** Two changes, each with the votes after it, judged. */
  async function vote(tenant: Tenant, name: string, rates: [daysAgo: number, rate: number][], count = 1_200) {
    const prompts = await service.store.prompts.list(tenant.organisation.id)
    const prompt = prompts.find((each) => each.name === name)
    assert.ok(prompt)
    for (const [i, [daysAgo, rate]] of rates.entries()) {
      const at = changeTime(service.now, daysAgo)
      const change = newHistoryEntry({ ...deployedEntry(at), commitSha: commitOf(i + 1) })
      await service.store.history.record(prompt, change, at, operator)
      const until = changeTime(service.now, rates[i + 1]?.[0] ?? 0)
      await postVotes(tenant, { from: at + 1, until, count, rate, prompt: prompt.publicId })
    }
    service.judge.touch(tenant.organisation.id, prompt.id)
    return prompt
  }

  test('prompts are sorted by the effect of their last change, and after open regressions by their rate', async () => {
    const tenant = await tenantWith('a new', 'few', 'gained', 'hurt', 'lost', 'same')
    const lost = await vote(tenant, 'lost', [
      [28, 0.85],
      [12, 0.6],
    ])
    await vote(tenant, 'hurt', [
      [28, 0.85],
      [12, 0.72],
    ])
    await vote(tenant, 'same', [
      [28, 0.8],
      [14, 0.8],
    ])
    await vote(tenant, 'gained', [
      [28, 0.8],
      [14, 0.95],
    ])
    await vote(tenant, 'few', [[20, 0]], 5)
    await service.judge.round()
    const names = async (query: string) => namesOf(await list(tenant, `?sort=${query}`))
    assert.deepEqual(
      (await list(tenant, '?sort=effect')).map(({ name, verdict }) => [name, verdict]),
      [
        ['lost', 'worse'],
        ['hurt', 'worse'],
        ['same', 'no_difference_seen'],
        ['gained', 'better'],
        ['a new', null],
        ['few', 'too_little_data'],
      ],
    )
    assert.deepEqual(await names('-effect'), ['gained', 'same', 'hurt', 'lost', 'a new', 'few'])
    const worstFirst = ['lost', 'hurt', 'same', 'gained', 'a new', 'few']
    assert.deepEqual(await names('regression'), worstFirst)
    assert.deepEqual(await names('regression&limit=3&page=2'), worstFirst.slice(3))
    assert.deepEqual(await names('regression&q=E'), ['same', 'gained', 'a new', 'few'])
    assert.deepEqual(await names('-regression'), ['hurt', 'lost', ...worstFirst.slice(2)])

    const [regression] = await service.store.regressions.ofPrompt(lost)
    const dismissed = await service.app.inject({
      method: 'POST',
      url: `/api/v1/prompts/${lost.publicId}/regressions/${regression?.id}/dismiss`,
      headers: tenant.headers,
      payload: { note: 'On purpose.' },
    })
    assert.equal(dismissed.statusCode, 200, dismissed.body)
    assert.deepEqual(await names('regression'), ['hurt', 'lost', 'same', 'gained', 'a new', 'few'])
  })

  test('a ranking is written again only if it moved notably, or once a day', async () => {
    const { prompt } = await service.tenant()
    const stored = async () => {
      const rows = await queryRows(
        service.url,
        `select verdict, difference, positive_share, judged_at from prompt_standings where prompt_id = ${prompt.id}`,
      )
      return rows.map((row) => [row.verdict, ...[row.difference, row.positive_share, row.judged_at].map(numberOrNull)])
    }
    const save = (ranking: Ranking, at: number) => service.store.rankings.save(prompt, ranking, at)
    const effect = { verdict: 'worse', difference: -0.2 } as const
    await save({ effect, positiveShare: 0.6 }, 1)
    assert.deepEqual(await stored(), [['worse', -200_000, 600_000, 1]])
    await save({ effect: { ...effect, difference: -0.204 }, positiveShare: 0.604 }, hour)
    assert.deepEqual(await stored(), [['worse', -200_000, 600_000, 1]])
    await save({ effect: { ...effect, difference: -0.205 }, positiveShare: 0.604 }, 2 * hour)
    assert.deepEqual(await stored(), [['worse', -205_000, 604_000, 2 * hour]])
    await save({ effect: null, positiveShare: 0.604 }, 3 * hour)
    assert.deepEqual(await stored(), [[null, null, 604_000, 3 * hour]])
    await save({ effect: null, positiveShare: null }, 4 * hour)
    assert.deepEqual(await stored(), [[null, null, null, 4 * hour]])
    await save({ effect: null, positiveShare: null }, 4 * hour + day + 1)
    assert.deepEqual(await stored(), [[null, null, null, 4 * hour + day + 1]])
  })
})

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value)
}
