import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { onEachEngine } from '../../../testing/engines.ts'
import { useService } from '../../../testing/service.ts'
import { createSigningKey, payloadFor, signPayload } from '../../../testing/vote-tokens.ts'

// One character in two UTF-16 units and four bytes.
const emoji = '😀'

interface Limit {
  field: string
  characters: number
  method?: 'GET' | 'PATCH' | 'PUT'
  path: string
  /** The body of a request with this text, or its query for GET. */
  send: (text: string) => object
}

onEachEngine('Limits in characters', (engine) => {
  const service = useService(engine)

  test('a limit counts code points: as many emoji are accepted, and one more is rejected', async () => {
    const tenant = await service.tenant('free', 'admin')
    const prompt = `/prompts/${tenant.prompt.publicId}`
    const signal = (field: string) => (text: string) => ({ value: 'positive', [field]: text })
    const limits: Limit[] = [
      { field: 'subject', characters: 255, path: `${prompt}/signals`, send: signal('subject') },
      { field: 'voter', characters: 255, path: `${prompt}/signals`, send: signal('voter') },
      { field: 'comment', characters: 2_000, path: `${prompt}/signals`, send: signal('comment') },
      { field: 'name', characters: 1_000, path: '/prompts', send: (name) => ({ name }) },
      { field: 'name', characters: 200, method: 'PATCH', path: '/organisation', send: (name) => ({ name }) },
      { field: 'name', characters: 200, path: '/keys', send: (name) => ({ name }) },
      { field: 'prompts', characters: 200, path: '/keys', send: (prompts) => ({ name: 'k', prompts }) },
      { field: 'environment', characters: 255, path: `${prompt}/deployments`, send: deployment },
      { field: 'keys', characters: 100, method: 'PUT', path: '/segments', send: (key) => ({ keys: [key] }) },
      { field: 'user.name', characters: 1_000, path: `${prompt}/history`, send: (name) => entry({ name }) },
      { field: 'q', characters: 200, method: 'GET', path: `${prompt}/signals`, send: (q) => ({ q }) },
      { field: 'q', characters: 200, method: 'GET', path: `${prompt}/versions`, send: (q) => ({ q }) },
    ]
    const request = ({ method, path, send }: Limit, count: number): Promise<LightMyRequestResponse> => {
      const content = send(emoji.repeat(count))
      return service.app.inject({
        method: method ?? 'POST',
        url: `/api/v1${path}`,
        headers: { ...tenant.headers, ...(method !== 'GET' && { 'content-type': 'application/json' }) },
        ...(method === 'GET' ? { query: content as Record<string, string> } : { payload: JSON.stringify(content) }),
      })
    }
    for (const limit of limits) {
      const accepted = await request(limit, limit.characters)
      assert.ok(accepted.statusCode < 300, `${limit.path} ${limit.field}: ${accepted.body}`)
      const rejected = await request(limit, limit.characters + 1)
      assert.equal(rejected.statusCode, 422, `${limit.path} ${limit.field}: ${rejected.body}`)
      assert.match(rejected.json().error.message, /more than|at most/)
    }
    const { data } = (await service.app.inject({ url: '/api/v1/organisation', headers: tenant.headers })).json()
    assert.equal(data.name, emoji.repeat(200))
  })

  test('a vote from a page takes the longest comment in every spelling of JSON', async () => {
    const tenant = await service.tenant('free', 'admin')
    const { secret } = await createSigningKey(service, tenant)
    // As long as a token can be.
    const token = signPayload(
      secret,
      payloadFor(secret, tenant, service.now, { s: 's'.repeat(255), u: 'u'.repeat(255) }),
    )
    const escaped = '\\ud83d\\ude00'
    for (const spelling of [emoji, escaped]) {
      const payload = `{"token":"${token}","value":"positive","comment":"${spelling.repeat(2_000)}"}`
      const headers = { 'content-type': 'application/json' }
      const response = await service.app.inject({ method: 'POST', url: '/api/v1/votes', headers, payload })
      assert.deepEqual(response.json(), { data: { value: 'positive', comment: emoji.repeat(2_000) } })
    }
  })
})

function deployment(environment: string): object {
  return { environment, commit_sha: 'a'.repeat(40), state: 'success' }
}

function entry({ name }: { name: string }): object {
  return {
    action: 'deployed',
    user: { name, email: 'ada@example.com' },
    commit_sha: 'a'.repeat(40),
    pr_number: null,
    pr_url: null,
    branch_name: 'main',
    created_at: '2026-11-01T08:00:00.000Z',
  }
}
