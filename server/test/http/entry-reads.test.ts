import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { gitRuns } from '../../src/git/run.ts'

const p = 'prompts/p.md'

async function entryUrls(s: Scenario): Promise<string[]> {
  const id = await s.promptId(p)
  const entries = await s.historyOf(id)
  return entries.map((entry) => `/api/v1/prompts/${id}/history/${entry.id}`)
}

onOneEngine('Reading the texts of entries', (engine) => {
  const service = useService(engine)

  test('150 requests for one entry run git once, and later requests not at all', async () => {
    const s = await connectedScenario(service)
    s.git.commit('Change', { [p]: 'Be brief.\n' })
    await s.push()
    const [, url = ''] = await entryUrls(s)
    const get = () => service.app.inject({ url, headers: s.tenant.headers })
    const before = gitRuns.started
    const responses = await Promise.all(Array.from({ length: 150 }, get))
    const started = gitRuns.started - before
    // The commit, two sizes, two texts, their difference.
    assert.equal(started, 5)
    for (const response of [...responses, await get()]) {
      assert.equal(response.statusCode, 200)
      assert.equal(response.json().data.after, 'Be brief.\n')
    }
    assert.equal(gitRuns.started - before, started)
  })

  test('however many entries an organisation asks for, each request gets its texts or the overload response, and others still get theirs', async () => {
    const s = await connectedScenario(service, {
      prepare: (git) => {
        for (let i = 0; i < 90; i++) git.commit(`Change ${i}`, { [p]: `${i}\n` })
        git.push()
      },
    })
    const other = await connectedScenario(service)
    const [otherUrl = ''] = await entryUrls(other)
    const urls = await entryUrls(s)
    assert.equal(urls.length, 90)
    const requests = urls.map((url) => service.app.inject({ url, headers: s.tenant.headers }))
    const theirs = await service.app.inject({ url: otherUrl, headers: other.tenant.headers })
    assert.equal(theirs.json().data.after, 'Be kind.\n')
    const responses = await Promise.all(requests)
    const rejected = responses.filter(({ statusCode }) => statusCode === 500)
    // Two reads and 50 waiting ones are accepted, and more if reads end while requests still wait for their turn.
    assert.ok(rejected.length <= 38, `${rejected.length} requests were rejected`)
    assert.equal(responses.filter(({ statusCode }) => statusCode === 200).length, 90 - rejected.length)
    for (const response of rejected) {
      assert.equal(response.headers['retry-after'], '2')
      assert.match(response.json().error.message, /overloaded/)
    }
    for (const response of responses) if (response.statusCode === 200) assert.notEqual(response.json().data.after, null)
  })
})
