import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { entryDetailsSchema, recordedEntrySchema } from '../../../contract/history.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { bob } from '../../../testing/git-repository.ts'
import { connectedScenario, type Entry, type Scenario } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { EntryDetails } from '../../src/domain/history/entry.ts'
import type { Prompt } from '../../src/domain/prompt.ts'
import type { Contents } from '../../src/domain/repositories/repository-service.ts'
import { mirrorOf } from '../../src/follow/sync-context.ts'
import { git } from '../../src/git/run.ts'

const deployed = {
  action: 'deployed',
  user: { name: 'Ada Lovelace', email: 'ada@example.com' },
  commit_sha: 'a1'.repeat(20),
  pr_number: null,
  pr_url: null,
  branch_name: 'main',
  created_at: '2026-11-01T10:00:00.123Z',
}
const merged = {
  ...deployed,
  action: 'pr_merged',
  pr_number: 12,
  pr_url: 'https://github.com/acme/prompts/pull/12',
}

interface Details extends Entry {
  message: string | null
  actor: string | null
  path: string | null
  before: string | null
  after: string | null
  patch: string | null
}

const nothingHidden = { present: false, added: false, count: 0, added_count: 0, kinds: [], positions: [] }

function contentsOf({ path, before, after, patch }: Details) {
  return { path, before, after, patch }
}

onOneEngine('Recording history entries', (engine) => {
  const service = useService(engine)
  const admin = () => service.tenant('free', 'admin')

  const record = (tenant: Tenant, body: object | string, path = tenant.path) =>
    service.app.inject({
      method: 'POST',
      url: `${path}/history`,
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    })

  test('a recorded entry appears in the history immediately', async () => {
    const tenant = await admin()
    for (const [i, body] of [deployed, { ...merged, commit_sha: 'B'.repeat(64), ignored: 1 }].entries()) {
      const response = await record(tenant, body)
      assert.equal(response.statusCode, 201)
      assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
      assertMatchesSchema(recordedEntrySchema, response)
      const { ignored: _, ...expected } = { ignored: 0, ...body, commit_sha: body.commit_sha.toLowerCase() }
      const { data } = response.json()
      assert.deepEqual(data, { id: data.id, ...expected })
      const history = (await tenant.history()).json()
      assert.equal(history.pagination.total_count, i + 1)
      assert.deepEqual(history.data[0], data)
    }
  })

  test('recording the same entry twice stores it once', async () => {
    const tenant = await admin()
    const first = (await record(tenant, deployed)).json()
    const equivalent = {
      ...deployed,
      commit_sha: deployed.commit_sha.toUpperCase(),
      created_at: '2026-11-01T11:00:00.123+01:00',
    }
    for (const body of [deployed, equivalent]) {
      const again = await record(tenant, body)
      assert.equal(again.statusCode, 201)
      assert.deepEqual(again.json(), first)
    }
    await Promise.all(Array.from({ length: 8 }, () => record(tenant, merged)))
    assert.equal((await tenant.history()).json().pagination.total_count, 2)
    const other = await record(tenant, { ...deployed, user: { ...deployed.user, name: 'Bob' } })
    assert.notEqual(other.json().data.id, first.data.id)
  })

  test('each invalid or missing field is rejected by name, and nothing is recorded', async () => {
    const tenant = await admin()
    const invalid: [object | string, RegExp][] = [
      ...Object.keys(deployed).map((name): [object, RegExp] => [
        { ...deployed, [name]: undefined },
        new RegExp(`^${name} is required`),
      ]),
      [{ ...deployed, action: 'pushed' }, /^action must be "deployed", "pr_opened", "pr_merged" or "pr_closed"/],
      [{ ...deployed, action: null }, /^action must be /],
      [{ ...deployed, user: 'Ada' }, /^user must be an object/],
      [{ ...deployed, user: { email: 'a@b' } }, /^user\.name is required/],
      [{ ...deployed, user: { name: 'Ada' } }, /^user\.email is required/],
      [{ ...deployed, user: { name: ' ', email: 'a@b' } }, /^user\.name must not be empty/],
      [{ ...deployed, user: { name: 'Ada', email: 5 } }, /^user\.email must be a string/],
      [{ ...deployed, user: { name: 'A\u0000', email: 'a@b' } }, /^user\.name must not contain control characters/],
      [JSON.stringify(deployed).replace('Ada', '\\ud800'), /^user\.name must be valid Unicode/],
      [{ ...deployed, commit_sha: 'a1b2c3d' }, /^commit_sha must be the full commit hash/],
      [{ ...deployed, commit_sha: 'z'.repeat(40) }, /^commit_sha must be the full commit hash/],
      [{ ...deployed, commit_sha: 5 }, /^commit_sha must be a string/],
      [{ ...deployed, pr_number: 12 }, /^pr_number must be null for deployed/],
      [{ ...deployed, pr_url: merged.pr_url }, /^pr_url must be null for deployed/],
      [{ ...merged, pr_number: null }, /^pr_number is required for pr_merged/],
      [{ ...merged, pr_number: 0 }, /^pr_number must be a positive integer/],
      [{ ...merged, pr_number: 1.5 }, /^pr_number must be an integer or null/],
      [{ ...merged, pr_number: '12' }, /^pr_number must be an integer or null/],
      [{ ...merged, pr_number: 1e30 }, /^pr_number must be a positive integer/],
      [{ ...merged, pr_url: null }, /^pr_url is required for pr_merged/],
      [{ ...merged, pr_url: 'javascript:alert(1)' }, /^pr_url must be an http or https URL/],
      [{ ...deployed, branch_name: '' }, /^branch_name must not be empty/],
      [{ ...deployed, branch_name: 'x'.repeat(1_001) }, /^branch_name must be at most 1000 characters/],
      [{ ...deployed, created_at: '2026-11-01' }, /^created_at must be an ISO 8601 time/],
      [{ ...deployed, created_at: '2026-02-30T10:00:00Z' }, /^created_at must be an ISO 8601 time/],
      [{ ...deployed, created_at: 1_700_000_000 }, /^created_at must be a string/],
      ['nonsense', /^The body is not valid JSON/],
      ['[]', /^The body must be a JSON object/],
      ['', /^The body is empty/],
    ]
    for (const [body, message] of invalid) {
      assertError(await record(tenant, body), 422, 'validation_error', message)
    }
    assert.equal((await tenant.history()).json().pagination.total_count, 0)
  })

  test('only an admin or recorder key of the organisation can record entries', async () => {
    const [tenant, other] = [await admin(), await admin()]
    for (const role of ['standard', 'ingest', 'reader'] as const) {
      const key = await service.key(tenant.organisation, role)
      const response = await service.app.inject({
        method: 'POST',
        url: `${tenant.path}/history`,
        headers: { authorization: `Bearer ${key}` },
        payload: deployed,
      })
      assertError(response, 403, 'forbidden')
    }
    const keyless = await service.app.inject({ method: 'POST', url: `${tenant.path}/history`, payload: deployed })
    assert.equal(keyless.statusCode, 401)
    assert.equal((await record(other, deployed, tenant.path)).statusCode, 404)
    assert.equal((await record(tenant, deployed, '/api/v1/prompts/pmt_unknown')).statusCode, 404)
    assert.equal((await tenant.history()).json().pagination.total_count, 0)
  })
})

onOneEngine('Reading a history entry', (engine) => {
  const service = useService(engine)

  async function details(scenario: Scenario, promptId: string, entry: Entry | undefined): Promise<Details> {
    const { data } = await scenario.get(`/prompts/${promptId}/history/${entry?.id}`)
    return data as Details
  }

  /** The texts as git has them now. */
  async function uncachedContents(scenario: Scenario, promptId: string, entry: Entry | undefined): Promise<Contents> {
    const prompts = await service.store.facts.prompts(scenario.repository)
    const prompt = prompts.find(({ publicId }) => publicId === promptId) as Prompt
    const found = await service.store.history.find(prompt, entry?.id as number)
    return service.repositories.contents(found as EntryDetails)
  }

  test('an entry shows the text before and after a file is added, changed, renamed or deleted', async () => {
    const scenario = await connectedScenario(service)
    const { git } = scenario
    const id = await scenario.promptId('prompts/p.md')
    git.commit('Be kinder\n\nBecause it helps.', { 'prompts/p.md': 'Be kind.\nAlways.\n' }, { author: bob })
    await scenario.push('main', { pusher: 'grace' })
    git.git('mv', 'prompts/p.md', 'prompts/new.md')
    git.commit('Rename')
    git.commit('Delete', { 'prompts/new.md': null })
    await scenario.push()
    const entries = await scenario.historyOf(id)
    const [added, changed, renamed, deleted] = await Promise.all(entries.map((entry) => details(scenario, id, entry)))

    assert.deepEqual(changed, {
      ...entries[1],
      user: bob,
      message: 'Be kinder\n\nBecause it helps.',
      actor: 'grace',
      path: 'prompts/p.md',
      before: 'Be kind.\n',
      after: 'Be kind.\nAlways.\n',
      before_state: 'available',
      after_state: 'available',
      patch: '--- a/prompts/p.md\n+++ b/prompts/p.md\n@@ -1 +1,2 @@\n Be kind.\n+Always.\n',
      key_id: null,
      trial: null,
      too_large: false,
      hidden_characters: nothingHidden,
    })
    assert.deepEqual(contentsOf(added as Details), {
      path: 'prompts/p.md',
      before: null,
      after: 'Be kind.\n',
      patch: '--- /dev/null\n+++ b/prompts/p.md\n@@ -0,0 +1 @@\n+Be kind.\n',
    })
    assert.deepEqual(contentsOf(renamed as Details), {
      path: 'prompts/new.md',
      before: 'Be kind.\nAlways.\n',
      after: 'Be kind.\nAlways.\n',
      patch: '--- a/prompts/p.md\n+++ b/prompts/new.md\n',
    })
    assert.deepEqual(contentsOf(deleted as Details), {
      path: 'prompts/new.md',
      before: 'Be kind.\nAlways.\n',
      after: null,
      patch: '--- a/prompts/new.md\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-Be kind.\n-Always.\n',
    })
    const response = await service.app.inject({
      url: `/api/v1/prompts/${id}/history/${entries[1]?.id}`,
      headers: { authorization: `Bearer ${await service.key(scenario.tenant.organisation, 'standard')}` },
    })
    assertMatchesSchema(entryDetailsSchema, response)
  })

  test('an entry of a pull request shows its title, who opened it and what it changes', async () => {
    const scenario = await connectedScenario(service)
    const { git, forge } = scenario
    const id = await scenario.promptId('prompts/p.md')
    git.switchTo('feature', 'main')
    const head = git.commit('Try', { 'prompts/p.md': 'Be brave.\n' }, { author: bob })
    git.push('feature:refs/pull/7/head')
    await scenario.deliver(forge.pull({ action: 'opened', number: 7, head, title: 'Braver', author: 'bob-at-forge' }))
    const opened = (await scenario.historyOf(id)).at(-1)
    assert.deepEqual([opened?.action, opened?.pr_number, opened?.branch_name], ['pr_opened', 7, 'feature'])
    assert.deepEqual(await details(scenario, id, opened), {
      ...opened,
      user: bob,
      message: 'Braver',
      actor: 'bob-at-forge',
      path: 'prompts/p.md',
      before: 'Be kind.\n',
      after: 'Be brave.\n',
      before_state: 'available',
      after_state: 'available',
      patch: '--- a/prompts/p.md\n+++ b/prompts/p.md\n@@ -1 +1 @@\n-Be kind.\n+Be brave.\n',
      key_id: null,
      trial: null,
      too_large: false,
      hidden_characters: nothingHidden,
    })
  })

  test('file contents of any bytes are returned as text', async () => {
    const scenario = await connectedScenario(service)
    const bytes = Buffer.concat([Buffer.from('Grüße\r\n\0'), Buffer.from([0xff]), Buffer.from('\n@@ -1 +1 @@\nno end')])
    scenario.git.commit('Bytes', { 'prompts/p.md': bytes })
    await scenario.push()
    const id = await scenario.promptId('prompts/p.md')
    const { after, patch } = await details(scenario, id, (await scenario.history()).at(-1))
    assert.equal(after, 'Grüße\r\n\0\ufffd\n@@ -1 +1 @@\nno end')
    assert.equal(
      patch,
      '--- a/prompts/p.md\n+++ b/prompts/p.md\n@@ -1 +1,4 @@\n-Be kind.\n+Grüße\r\n+\0\ufffd\n+@@ -1 +1 @@\n+no end\n\\ No newline at end of file\n',
    )
  })

  test('an entry that was recorded over the API has null details and the ID of the key, which the list does not show', async () => {
    const tenant = await service.tenant('free', 'admin')
    const { headers } = tenant
    const url = `${tenant.path}/history`
    const recorder = { authorization: `Bearer ${await service.key(tenant.organisation, 'recorder')}` }
    const keyIds = (await service.store.keys.list(tenant.organisation.id)).map(({ id }) => id)
    await service.app.inject({ method: 'POST', url, headers: recorder, payload: deployed })
    // Recording it again, with another key, changes nothing.
    await service.app.inject({ method: 'POST', url, headers, payload: deployed })
    await service.app.inject({ method: 'POST', url, headers, payload: merged })
    await tenant.recordEntry({ createdAt: 1 })
    const states = { before_state: 'unavailable', after_state: 'unavailable' }
    const contents = { before: null, after: null, ...states, patch: null, hidden_characters: null, trial: null }
    const unknown = { message: null, actor: null, path: null, too_large: false, ...contents }
    const listed: Entry[] = (await tenant.history()).json().data
    const entries = await Promise.all(
      listed.map(async ({ id }) => {
        const response = await service.app.inject({ url: `${url}/${id}`, headers })
        assertMatchesSchema(entryDetailsSchema, response)
        return response.json().data
      }),
    )
    assert.deepEqual(
      entries,
      listed.map((entry, i) => ({ ...entry, ...unknown, key_id: [...keyIds, null][i] })),
    )
    assert.equal(Object.keys(listed[0] as Entry).length, 8)
  })

  test('a lost mirror is fetched again; contents are null if the remote is gone too', async () => {
    const scenario = await connectedScenario(service)
    const id = await scenario.promptId('prompts/p.md')
    const [entry] = await scenario.history()
    const complete = await details(scenario, id, entry)
    assert.equal(complete.after, 'Be kind.\n')
    const { path } = mirrorOf(service.syncContext, scenario.repository)
    rmSync(path, { recursive: true })
    // Concurrent requests share one new mirror.
    const again = await Promise.all(Array.from({ length: 4 }, () => uncachedContents(scenario, id, entry)))
    const { before, after, patch } = complete
    const states = { beforeState: 'absent', afterState: 'available' }
    assert.deepEqual(again, Array(4).fill({ before, after, ...states, patch }))
    rmSync(path, { recursive: true })
    scenario.git.remove()
    assert.deepEqual(await uncachedContents(scenario, id, entry), {
      ...{ before: null, after: null, patch: null },
      ...{ beforeState: 'absent', afterState: 'unavailable' },
    })
    assert.deepEqual(await details(scenario, id, entry), complete, 'the cached texts are no longer served')
  })

  test("the patch of a new file survives git's cleanup of the mirror", async () => {
    const scenario = await connectedScenario(service)
    const id = await scenario.promptId('prompts/p.md')
    const [entry] = await scenario.history()
    const { patch } = await details(scenario, id, entry)
    await git(['prune', '--expire=now'], { mirror: mirrorOf(service.syncContext, scenario.repository).path })
    assert.equal((await uncachedContents(scenario, id, entry)).patch, patch)
    assert.notEqual(patch, null)
  })

  test('contents stay available after a disconnect as long as the mirror exists', async () => {
    const scenario = await connectedScenario(service)
    const id = await scenario.promptId('prompts/p.md')
    const [entry] = await scenario.history()
    await service.store.repositories.disconnect(scenario.repository, service.now, operator)
    assert.equal((await uncachedContents(scenario, id, entry)).after, 'Be kind.\n')
    rmSync(mirrorOf(service.syncContext, scenario.repository).path, { recursive: true })
    assert.equal((await uncachedContents(scenario, id, entry)).after, null)
  })

  test('contents that a rewritten default branch lost can still be read', async () => {
    const scenario = await connectedScenario(service)
    const { git } = scenario
    const id = await scenario.promptId('prompts/p.md')
    const lost = git.commit('Lost', { 'prompts/p.md': 'Lost.\n' })
    await scenario.push()
    git.git('reset', '--quiet', '--hard', 'HEAD~1')
    git.commit('Instead', { 'prompts/p.md': 'Instead.\n' })
    await scenario.push()
    git.inRemote('reflog', 'expire', '--expire=now', '--all')
    git.inRemote('gc', '--quiet', '--prune=now')
    const entry = (await scenario.historyOf(id)).find(({ commit_sha }) => commit_sha === lost)
    assert.equal((await details(scenario, id, entry)).after, 'Lost.\n')
  })

  test('an entry of another prompt or organisation, or with an unknown or malformed ID, gets 404', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    const { id } = await tenant.recordEntry()
    const elsewhere = await other.recordEntry()
    const getEntry = ({ headers }: Tenant, entryId: string | number) =>
      service.app.inject({ url: `${tenant.path}/history/${entryId}`, headers })
    assert.equal((await getEntry(tenant, id)).statusCode, 200)
    assert.equal((await getEntry(other, id)).statusCode, 404)
    for (const invalidId of [elsewhere.id, 999_999, 'x', '0', `0${id}`, '1.0', '9'.repeat(30), '%00']) {
      const response = await getEntry(tenant, invalidId)
      assert.deepEqual([response.statusCode, response.json().error.code], [404, 'not_found'], String(invalidId))
    }
    const ingest = await service.key(tenant.organisation, 'ingest')
    for (const path of [`history/${id}`, 'live']) {
      const url = `${tenant.path}/${path}`
      assert.equal((await service.app.inject({ url })).statusCode, 401)
      assert.equal((await service.app.inject({ url, headers: { authorization: `Bearer ${ingest}` } })).statusCode, 403)
    }
  })
})
