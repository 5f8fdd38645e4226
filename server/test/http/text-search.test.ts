import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { type TextMatchBody, textSearchPageSchema } from '../../../contract/versions.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { generateSecret, newApiKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { phraseFinder } from '../../src/domain/texts/phrase.ts'
import { searchTexts } from '../../src/domain/texts/text-search.ts'
import { mirrorOf } from '../../src/follow/sync-context.ts'
import { gitRuns } from '../../src/git/run.ts'

const p = 'prompts/p.md'
const q = 'prompts/q.md'

onEachEngine('Searching the texts of prompts', (engine) => {
  const service = useService(engine)

  const get = ({ headers }: Pick<Tenant, 'headers'>, phrase: string, more = '') =>
    service.app.inject({ url: `/api/v1/texts?q=${encodeURIComponent(phrase)}${more}`, headers })

  async function search(tenant: Pick<Tenant, 'headers'>, phrase: string, more = '') {
    const response = await get(tenant, phrase, more)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(textSearchPageSchema, response)
    const { data, pagination, search } = response.json()
    return { data: data as TextMatchBody[], pagination, search }
  }

  function refunds(git: GitRepository): void {
    git.commit('Start', { [p]: 'Be kind.\n', [q]: 'Never promise a refund.\n' })
    git.commit('Promise', { [p]: 'Be kind. We promise a\n  REFUND within 14 days.\n' })
    git.commit('Say how long', { [p]: 'Be kind. We promise a refund within 30 days.\n' })
    git.commit('Stop', { [p]: 'Be kind.\n' })
    git.push()
  }

  const shas = ({ entry, first_entry }: TextMatchBody) => [entry.commit_sha, first_entry.commit_sha]

  test('a phrase is found in live and past versions, whatever its case and line breaks, with when it was live and the change that brought it', async () => {
    const s = await connectedScenario(service, { prepare: refunds })
    const { data, pagination, search: state } = await search(s.tenant, 'promise A refund')
    const [start, promise, longer, stop] = (await s.history(p)).map(({ commit_sha }) => commit_sha)
    const [live, past, ...others] = data
    assert.ok(live && past)
    assert.deepEqual(others, [])
    assert.deepEqual([live.prompt.name, live.live, live.live_until, live.version_count], [q, true, null, 1])
    assert.deepEqual(live.excerpt, { before: 'Never ', match: 'promise a refund', after: '. ' })
    assert.deepEqual(shas(live), [start, start])
    assert.deepEqual([past.prompt.name, past.live, past.version_count], [p, false, 2])
    assert.deepEqual(shas(past), [longer, promise])
    assert.equal(past.excerpt.after, ' within 30 days. ')
    const at = new Map((await s.history(p)).map(({ commit_sha, created_at }) => [commit_sha, created_at]))
    assert.deepEqual([past.live_from, past.live_until], [at.get(promise ?? ''), at.get(stop ?? '')])
    assert.deepEqual(pagination, { current_page: 1, total_pages: 1, total_count: 2, per_page: 25 })
    assert.deepEqual(state, { complete: true, examined: 5, skipped: 0, cursor: null })
    assert.deepEqual((await search(s.tenant, 'guarantee')).data, [])
  })

  test('cursors lead to every match once, and the next request continues where the last one stopped', async () => {
    const s = await connectedScenario(service, { prepare: refunds })
    const found: string[] = []
    let cursor: string | null = null
    let examined = 0
    do {
      const page = await search(s.tenant, 'refund', `&limit=1${cursor === null ? '' : `&cursor=${cursor}`}`)
      found.push(...page.data.map(({ prompt }) => prompt.name))
      examined += page.search.examined
      assert.equal(page.pagination.total_count, null)
      cursor = page.search.cursor
    } while (cursor !== null)
    assert.deepEqual(found.sort(), [p, q])
    assert.equal(examined, 5)
  })

  test('a search that runs out of time examines one text for each request, and still gets to the end', async () => {
    const s = await connectedScenario(service, { prepare: refunds })
    const { organisationId } = s.repository
    const { repositories } = service
    const slow = {
      searchTexts: (repositoryId: number, blobs: string[], phrase: string) =>
        repositories.searchTexts(repositoryId, blobs, phrase, -1),
    }
    const request = { organisationId, promptIds: null, phrase: 'refund', limit: 25 }
    let matches = 0
    let requests = 0
    for (let cursor = null; ; requests++) {
      const found = await searchTexts(service.store, slow, { ...request, cursor }, service.now)
      matches += found.matches.reduce((sum, { versionCount }) => sum + versionCount, 0)
      assert.ok(found.examined <= 2, `${found.examined} versions; two have the same text`)
      if (found.cursor === null) break
      cursor = found.cursor as never
    }
    assert.equal(matches, 3)
    assert.ok(requests >= 2, `${requests} requests`)
  })

  test('other organisations, deleted prompts and prompts that a key is not for are not searched', async () => {
    const s = await connectedScenario(service, { prepare: refunds })
    const other = await service.tenant()
    assert.deepEqual((await search(other, 'refund')).search, { complete: true, examined: 0, skipped: 0, cursor: null })
    const secret = generateSecret()
    const terms = { organisationId: s.repository.organisationId, name: 'q', role: 'reader', createdAt: 0 } as const
    await service.store.keys.create(newApiKey(secret, { ...terms, prompts: q, expiresAt: null }), operator)
    const limited = await search({ headers: { authorization: `Bearer ${secret}` } }, 'refund')
    assert.deepEqual(
      limited.data.map(({ prompt }) => prompt.name),
      [q],
    )
    assert.equal(limited.search.examined, 1)
    const url = `/api/v1/prompts/${await s.promptId(q)}`
    await service.app.inject({ method: 'DELETE', url, headers: s.tenant.headers })
    assert.deepEqual(
      (await search(s.tenant, 'refund')).data.map(({ prompt }) => prompt.name),
      [p],
    )
  })

  test('versions without a text, with one over 1 MiB and without a mirror are counted as not searched', async () => {
    const s = await connectedScenario(service, {
      prepare: (git) => {
        git.commit('Start', { [p]: `refund ${'x'.repeat(1024 * 1024)}`, [q]: 'refund' })
        git.push()
      },
    })
    await s.tenant.recordEntry()
    const { data, search: state } = await search(s.tenant, 'refund')
    assert.deepEqual(
      data.map(({ prompt }) => prompt.name),
      [q],
    )
    assert.deepEqual([state.examined, state.skipped], [1, 2])
    rmSync(s.git.remote, { recursive: true })
    rmSync(mirrorOf(service.syncContext, s.repository).path, { recursive: true })
    const { search: without } = await search(s.tenant, 'refund')
    assert.deepEqual(without, { complete: true, examined: 0, skipped: 3, cursor: null })
  })

  test('300 prompts are searched with one git process, and searches of one organisation wait for each other', async (t) => {
    const s = await connectedScenario(service, {
      prepare: (git) => {
        git.commit('Start', Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`prompts/${i}.md`, `No. ${i}`])))
        git.push()
      },
    })
    const { repositories } = service
    const { searchTexts } = repositories
    let [running, most] = [0, 0]
    repositories.searchTexts = async (...request) => {
      most = Math.max(most, ++running)
      return searchTexts(...request).finally(() => running--)
    }
    t.after(() => {
      repositories.searchTexts = searchTexts
    })
    const before = gitRuns.started
    const responses = await Promise.all(Array.from({ length: 4 }, () => get(s.tenant, 'No. 299')))
    assert.deepEqual(
      responses.map((response) => response.json().data.length),
      [1, 1, 1, 1],
    )
    assert.equal(gitRuns.started - before, responses.length)
    assert.equal(most, 1)
  })

  test('an empty phrase, one over 200 characters and a made-up cursor are rejected', async () => {
    const { headers } = await service.tenant()
    assertError(await get({ headers }, '  \n'), 422, 'validation_error', /q must have at least one character/)
    assertError(await get({ headers }, 'x'.repeat(201)), 422, 'validation_error', /at most 200/)
    assertError(await get({ headers }, 'x', '&cursor=1'), 422, 'validation_error', /cursor must be/)
    assertError(await service.app.inject({ url: '/api/v1/texts', headers }), 422, 'validation_error', /^q /)
  })
})

test('an excerpt is cut between words, and keeps its place where lower case has another length', () => {
  const words = 'some words before it and after it '.repeat(10)
  const found = phraseFinder('refund')(`${words}a refund of ${words}`)
  assert.match(found?.before ?? '', /^… (some|words|before|it|and|after) .*a $/)
  assert.match(found?.after ?? '', /^ of some .* (some|words|before|it|and|after) …$/)
  const emoji = phraseFinder('refund')(`${'😀'.repeat(41)}a refund ${'😀'.repeat(61)}`)
  assert.deepEqual(emoji, { before: '… ', match: 'refund', after: ' …' })
  assert.deepEqual(phraseFinder('refund')('A refund.'), { before: 'A ', match: 'refund', after: '.' })
  assert.equal(phraseFinder('refund')('İİİ Refund now')?.match, 'refund')
})
