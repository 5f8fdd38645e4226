import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { assertError } from '../../../testing/assertions.ts'
import { onEachEngine, onOneEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { type TestService, useService } from '../../../testing/service.ts'
import { generateSecret, newApiKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { maxDeliveredBytes, staleTexts, storeLiveTexts } from '../../src/domain/delivery/live-text.ts'
import type { RepositoryService } from '../../src/domain/repositories/repository-service.ts'

function useDelivery(service: TestService) {
  async function deliveringScenario(files?: Record<string, string>): Promise<Scenario> {
    const scenario = await connectedScenario(
      service,
      files && {
        prepare(git) {
          git.commit('Start', files)
          git.push()
        },
      },
    )
    const { tenant } = scenario
    await service.store.liveTexts.updateSettings(tenant.organisation.id, { enabled: true }, service.now, operator)
    await service.storeLiveTexts()
    return scenario
  }

  function get(scenario: Scenario, path: string, headers: Record<string, string> = {}) {
    return service.app.inject({ url: `/api/v1${path}`, headers: { ...scenario.tenant.headers, ...headers } })
  }

  async function textsOf(scenario: Scenario, query = '', headers = {}): Promise<Record<string, string>> {
    const response = await get(scenario, `/delivery${query}`, headers)
    assert.equal(response.statusCode, 200, response.body)
    const { prompts } = response.json().data
    return Object.fromEntries(prompts.map(({ path, text }: { path: string; text: string }) => [path, text]))
  }

  /** Of the texts that the organisation stores, in bytes. */
  async function sizesOf({ tenant }: Scenario): Promise<number[]> {
    const sql = `select size, octet_length(text) as bytes from delivered_texts where organisation_id = ${tenant.organisation.id} order by size`
    const rows = await queryRows(service.url, sql)
    for (const { size, bytes } of rows) assert.equal(Number(size), Number(bytes))
    return rows.map(({ size }) => Number(size))
  }

  async function keyHeaders({ tenant }: Scenario, prompts: string | null) {
    const secret = generateSecret()
    const { id: organisationId } = tenant.organisation
    const terms = { organisationId, name: 'app', role: 'delivery', prompts, createdAt: 1, expiresAt: null } as const
    await service.store.keys.create(newApiKey(secret, terms), operator)
    return { authorization: `Bearer ${secret}` }
  }

  return { deliveringScenario, get, textsOf, sizesOf, keyHeaders }
}

onEachEngine('Text delivery', (engine) => {
  const service = useService(engine)
  const { deliveringScenario, get, textsOf, sizesOf } = useDelivery(service)

  test('the document has the live text and version of each prompt in git, and a merge replaces both', async () => {
    const scenario = await deliveringScenario()
    const { data } = (await get(scenario, '/delivery')).json()
    const id = await scenario.promptId('prompts/p.md')
    const path = 'prompts/p.md'
    const first = { id, name: path, path, version: scenario.git.head(), text: 'Be kind.\n', trial: null }
    assert.equal(data.refresh_seconds, 15)
    assert.deepEqual(data.prompts[0], first)
    assert.equal(data.prompts.length, 2)

    scenario.git.commit('Change', { 'prompts/p.md': 'Be brief and kind.\n' })
    service.now += 60_000
    await scenario.push()
    await service.storeLiveTexts()
    const changed = (await get(scenario, '/delivery')).json().data.prompts
    assert.deepEqual(changed[0], { ...first, version: scenario.git.head(), text: 'Be brief and kind.\n' })
    assert.deepEqual(changed[1], data.prompts[1])
    const one = (await get(scenario, `/prompts/${id}/text?unit=u1`)).json().data
    assert.deepEqual(one, { id, name: path, version: scenario.git.head(), text: 'Be brief and kind.\n', trial: null })
  })

  test('prompts with the same text store and read it once, and the last of them takes it along', async () => {
    const text = 'x'.repeat(20_000)
    const files = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`prompts/${i}.md`, text]))
    const { texts } = service.repositories
    const asked: string[] = []
    service.repositories.texts = (id, blobs, maxBytes) => {
      asked.push(...blobs)
      return texts(id, blobs, maxBytes)
    }
    const scenario = await deliveringScenario(files)
    service.repositories.texts = texts
    assert.equal(asked.length, 1)
    assert.deepEqual(await textsOf(scenario), files)
    assert.deepEqual(await sizesOf(scenario), [20_000])
    const change = async (changed: string[]) => {
      scenario.git.commit('Change', Object.fromEntries(changed.map((path) => [path, 'Be kind.\n'])))
      service.now += 60_000
      await scenario.push()
      await service.storeLiveTexts()
    }
    const [first = '', ...others] = Object.keys(files)
    await change(others)
    assert.deepEqual(await sizesOf(scenario), [9, 20_000])
    await change([first])
    assert.deepEqual(await sizesOf(scenario), [9])
    await service.store.liveTexts.updateSettings(scenario.tenant.organisation.id, { enabled: false }, 1, operator)
    await service.storeLiveTexts()
    assert.deepEqual(await sizesOf(scenario), [])
  })

  test('an organisation with as many bytes of texts as it may have keeps what it has, and its repository says so', async (t) => {
    const { deliveredBytes } = service.repositories
    t.after(() => Object.assign(service.repositories, { deliveredBytes }))
    Object.assign(service.repositories, { deliveredBytes: 100 })
    const scenario = await deliveringScenario({ 'prompts/a.md': 'a'.repeat(60) })
    const push = async (files: Record<string, string | null>) => {
      scenario.git.commit('Change', files)
      service.now += 60_000
      await scenario.push()
      await service.storeLiveTexts()
      const { body } = await get(scenario, `/repositories/${scenario.repository.id}`)
      return JSON.parse(body).data.delivery_error as string | null
    }
    assert.match(String(await push({ 'prompts/b.md': 'b'.repeat(41) })), /100 bytes in one organisation/)
    assert.deepEqual(await sizesOf(scenario), [60])
    const b = await scenario.promptId('prompts/b.md')
    assertError(await get(scenario, `/prompts/${b}/text`), 404, 'not_found', /100 bytes in one organisation/)
    // One that fits, one that takes the room of the text before it, and one that does not.
    assert.notEqual(await push({ 'prompts/c.md': 'c'.repeat(40), 'prompts/a.md': 'A'.repeat(60) }), null)
    assert.deepEqual(await sizesOf(scenario), [40, 60])
    assert.equal((await textsOf(scenario))['prompts/a.md'], 'A'.repeat(60))
    assert.notEqual(await push({ 'prompts/a.md': 'A'.repeat(61) }), null)
    assert.equal((await textsOf(scenario))['prompts/a.md'], 'A'.repeat(60))
    assert.equal(await push({ 'prompts/b.md': null, 'prompts/a.md': 'a' }), null)
    assert.deepEqual(await sizesOf(scenario), [1, 40])
  })

  test('delivery is off until an admin turns it on, and prompts can be excepted at any time', async () => {
    const scenario = await connectedScenario(service)
    assertError(await get(scenario, '/delivery'), 409, 'conflict')
    const p = await scenario.promptId('prompts/p.md')
    assertError(await get(scenario, `/prompts/${p}/text`), 409, 'conflict')
    const patch = (payload: object) =>
      service.app.inject({
        method: 'PATCH',
        url: '/api/v1/delivery/settings',
        headers: scenario.tenant.headers,
        payload,
      })
    assert.deepEqual((await patch({ enabled: true })).json().data, { enabled: true, excluded: [] })
    assert.deepEqual(await textsOf(scenario), {})
    await service.storeLiveTexts()
    assert.equal(Object.keys(await textsOf(scenario)).length, 2)
    assert.deepEqual((await patch({ excluded: ['**/p.md'] })).json().data, { enabled: true, excluded: ['**/p.md'] })
    // At once, before the stored text is removed.
    assert.deepEqual(await textsOf(scenario), { 'prompts/q.md': 'Be brief.\n' })
    assertError(await get(scenario, `/prompts/${p}/text`), 404, 'not_found')
    for (const wrong of [{ excluded: [''] }, { excluded: 'x' }, { excluded: Array(21).fill('a') }, { enabled: 1 }]) {
      assertError(await patch(wrong), 422, 'validation_error')
    }
    assert.equal((await patch({ enabled: false })).statusCode, 200)
    assertError(await get(scenario, '/delivery'), 409, 'conflict')
    await service.storeLiveTexts()
    assert.deepEqual(await service.store.liveTexts.versions(scenario.tenant.organisation.id), [])
  })
})

onOneEngine('The delivered document', (engine) => {
  const service = useService(engine)
  const { deliveringScenario, get, textsOf, keyHeaders } = useDelivery(service)

  test('a deleted file, a deleted prompt and a file that is no text or too large are not delivered', async () => {
    const scenario = await deliveringScenario({
      'prompts/kept.md': 'Kept.\n',
      'prompts/removed.md': 'Removed.\n',
      'prompts/large.md': 'x'.repeat(maxDeliveredBytes + 1),
      'prompts/binary.md': 'a\0b',
    })
    assert.deepEqual(Object.keys(await textsOf(scenario)), ['prompts/kept.md', 'prompts/removed.md'])
    scenario.git.commit('Remove', { 'prompts/removed.md': null })
    service.now += 60_000
    await scenario.push()
    await service.storeLiveTexts()
    assert.deepEqual(Object.keys(await textsOf(scenario)), ['prompts/kept.md'])
    const [kept] = await service.store.prompts.named(scenario.tenant.organisation.id, 'prompts/kept.md')
    assert.ok(kept)
    await service.store.prompts.delete(kept, service.now, operator)
    assert.deepEqual(await textsOf(scenario), {})
  })

  test('a prompt without a text says why, and one whose repository has not been read since says so', async () => {
    const scenario = await deliveringScenario({
      'prompts/large.md': 'x'.repeat(maxDeliveredBytes + 1),
      'prompts/excluded.md': 'Excluded.\n',
      'prompts/removed.md': 'Removed.\n',
      'prompts/unread.md': 'Unread.\n',
    })
    const { tenant, repository } = scenario
    const { id } = tenant.organisation
    scenario.git.commit('Remove', { 'prompts/removed.md': null })
    service.now += 60_000
    await scenario.push()
    await service.storeLiveTexts()
    const rows = await service.store.liveTexts.versions(id)
    await service.storeLiveTexts()
    assert.deepEqual(await service.store.liveTexts.versions(id), rows)
    await queryRows(
      service.url,
      `delete from live_texts where prompt_id = (select id from prompts where path = 'prompts/unread.md')`,
    )
    await service.store.liveTexts.updateSettings(id, { excluded: ['**/excluded.md'] }, service.now, operator)
    const synced = new Date(scenario.repository.lastSyncAt as number).toISOString()
    const problem = async (prompt: string, message: RegExp) =>
      assertError(await get(scenario, `/prompts/${prompt}/text`), 404, 'not_found', message)
    await problem(await scenario.promptId('prompts/large.md'), /larger than 256 KiB, or no text/)
    await problem(await scenario.promptId('prompts/excluded.md'), /settings of text delivery exclude/)
    await problem(await scenario.promptId('prompts/removed.md'), /its live version deleted the file/)
    await problem(
      await scenario.promptId('prompts/unread.md'),
      new RegExp(`No live text yet: .+ not been read since ${synced}`),
    )
    await problem(tenant.prompt.publicId, /no file in a connected repository/)
    await problem('pmt_000000000000000000000000', /Check the URL/)
    await service.store.repositories.disconnect(repository, service.now, operator)
    await problem(await scenario.promptId('prompts/unread.md'), /no file in a connected repository/)
  })

  test('a document that has not changed is answered with 304, and only the changed one is sent again', async () => {
    const scenario = await deliveringScenario()
    const { etag } = (await get(scenario, '/delivery')).headers
    const known = { 'if-none-match': String(etag) }
    assert.equal((await get(scenario, '/delivery', known)).statusCode, 304)
    // Another change in the database clears the caches.
    await service.tenant()
    const unchanged = await get(scenario, '/delivery', known)
    assert.deepEqual([unchanged.statusCode, unchanged.body, unchanged.headers.etag], [304, '', etag])
    scenario.git.commit('Change', { 'prompts/q.md': 'Be quick.\n' })
    service.now += 60_000
    await scenario.push()
    await service.storeLiveTexts()
    const changed = await get(scenario, '/delivery', known)
    assert.equal(changed.statusCode, 200)
    assert.notEqual(changed.headers.etag, etag)
    assert.equal((await textsOf(scenario))['prompts/q.md'], 'Be quick.\n')
  })

  test('a failure is not remembered', async () => {
    const scenario = await deliveringScenario()
    await queryRows(service.url, 'alter table live_texts rename to hidden_texts')
    assert.equal((await get(scenario, '/delivery')).statusCode, 500)
    await queryRows(service.url, 'alter table hidden_texts rename to live_texts')
    assert.equal((await get(scenario, '/delivery')).statusCode, 200)
  })

  test('the document is compressed as the request allows', async () => {
    const scenario = await deliveringScenario()
    const plain = await get(scenario, '/delivery')
    assert.equal(plain.headers['content-encoding'], undefined)
    for (const [encoding, decode] of [
      ['br', brotliDecompressSync],
      ['zstd', zstdDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const response = await get(scenario, '/delivery', { 'accept-encoding': encoding })
      assert.equal(response.headers['content-encoding'], encoding)
      assert.equal(response.headers.vary, 'Accept-Encoding')
      assert.equal(decode(response.rawPayload).toString(), plain.body)
    }
  })

  test('a thousand prompts of a page each take at most 300 KB compressed', async () => {
    const words =
      'answer the customer politely and say when refund parcel order arrives if not apologise offer help'.split(' ')
    let seed = 7
    const random = () => {
      seed = (seed * 48271) % 2147483647
      return seed / 2147483647
    }
    const text = () => Array.from({ length: 200 }, () => words[Math.floor(random() * words.length)]).join(' ')
    const files = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`prompts/${i}.md`, text()]))
    const scenario = await deliveringScenario(files)
    const { rawPayload } = await get(scenario, '/delivery', { 'accept-encoding': 'br' })
    assert.equal(Object.keys(JSON.parse(brotliDecompressSync(rawPayload).toString()).data.prompts).length, 1_000)
    assert.ok(rawPayload.length <= 300_000, `${rawPayload.length} bytes`)
  })

  test('a key gets only the prompts that it may read, and of those only what a pattern asks for', async () => {
    const scenario = await deliveringScenario()
    const limited = await keyHeaders(scenario, 'prompts/p*')
    assert.deepEqual(await textsOf(scenario, '', limited), { 'prompts/p.md': 'Be kind.\n' })
    assert.deepEqual(await textsOf(scenario, '?prompts=prompts/q*'), { 'prompts/q.md': 'Be brief.\n' })
    assert.deepEqual(await textsOf(scenario, '?prompts=prompts/q*', limited), {})
    assertError(await get(scenario, `/delivery?prompts=${'*a'.repeat(11)}`), 422, 'validation_error')
    const q = await scenario.promptId('prompts/q.md')
    assertError(await get(scenario, `/prompts/${q}/text`, limited), 404, 'not_found')
    const stranger = await deliveringScenario()
    assert.equal((await get(stranger, `/prompts/${q}/text`)).statusCode, 404)
    assert.equal((await textsOf(stranger))['prompts/p.md'], 'Be kind.\n')
  })

  test('a unit has 1 to 200 characters', async () => {
    const scenario = await deliveringScenario()
    const path = `/prompts/${await scenario.promptId('prompts/p.md')}/text`
    for (const unit of ['', 'u'.repeat(201)]) {
      assertError(await get(scenario, `${path}?unit=${unit}`), 422, 'validation_error')
    }
    assert.equal((await get(scenario, `${path}?unit=${encodeURIComponent('😀'.repeat(200))}`)).statusCode, 200)
  })

  test('the text of a version that git cannot provide yet does not replace the one before', async () => {
    const scenario = await deliveringScenario()
    const { id } = scenario.tenant.organisation
    scenario.git.commit('Change', { 'prompts/p.md': 'New.\n' })
    service.now += 60_000
    await scenario.push()
    const { changed } = await staleTexts(service.store, id, service.now)
    const versions = changed.get(scenario.repository.id) ?? []
    const { deliveredBytes } = service.repositories
    const store = ({ texts }: Pick<RepositoryService, 'texts'>) =>
      storeLiveTexts(service.store.liveTexts, { texts, deliveredBytes }, id, scenario.repository.id, versions)
    const nothing = { texts: async () => ({ texts: new Map<string, string>(), tooLarge: [] }) }
    assert.equal(await store(nothing), 1)
    assert.equal((await textsOf(scenario))['prompts/p.md'], 'Be kind.\n')
    assert.equal(await store(service.repositories), 0)
    assert.equal((await textsOf(scenario))['prompts/p.md'], 'New.\n')
  })
})
