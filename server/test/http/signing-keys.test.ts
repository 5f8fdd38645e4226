import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { allRows, queryRows } from '../../../testing/rows.ts'
import { useService } from '../../../testing/service.ts'
import { createSigningKey } from '../../../testing/vote-tokens.ts'
import { issueKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { DomainError } from '../../src/domain/errors.ts'

onOneEngine('Signing keys', (engine) => {
  const service = useService(engine)

  test('a signing key authenticates no request', async () => {
    const tenant = await service.tenant('free', 'admin')
    const { secret } = await createSigningKey(service, tenant)
    // Even if a key of the usual form had the role.
    const odd = await service.key(tenant.organisation, 'signing')
    for (const key of [secret, odd]) {
      for (const [method, url] of [
        ['GET', '/api/v1/session'],
        ['POST', '/api/v1/session'],
        ['GET', `${tenant.path}/history`],
        ['POST', `${tenant.path}/signals`],
        ['GET', '/api/v1/nothing'],
      ] as const) {
        const headers = { authorization: `Bearer ${key}` }
        assertError(await service.app.inject({ method, url, headers }), 401, 'unauthorized')
      }
    }
  })

  test('a signing key is shown once and stored encrypted, so that the database does not allow forging tokens', async () => {
    const tenant = await service.tenant('free', 'admin')
    const headers = { ...tenant.headers, 'content-type': 'application/json' }
    const payload = JSON.stringify({ name: 'pages', role: 'signing' })
    const created = await service.app.inject({ method: 'POST', url: '/api/v1/keys', headers, payload })
    assert.equal(created.statusCode, 201)
    const { id, key, role } = created.json().data
    assert.equal(role, 'signing')
    assert.match(key, /^pls_[0-9A-Za-z]{16}_[0-9A-Za-z]{49}$/)
    const secretPart = key.slice(21)
    const dump = JSON.stringify(await allRows(service.url))
    assert.ok(!dump.includes(secretPart) && !service.log.join('').includes(secretPart))
    const [row] = await queryRows(service.url, `select signing_id, sealed_secret from api_keys where id = ${id}`)
    const { signing_id: signingId, sealed_secret: sealed } = row as Record<string, string>
    const place = { signingId: String(signingId), kind: 'signing_key' } as const
    assert.equal(service.syncContext.vault.decrypt(String(sealed), place), key)
    // Copied to another key, it is useless.
    assert.throws(() => service.syncContext.vault.decrypt(String(sealed), { ...place, signingId: '0'.repeat(16) }))
    const listed = (await service.app.inject({ url: '/api/v1/keys', headers })).body
    assert.ok(!listed.includes(secretPart) && !listed.includes(String(signingId)))
  })

  test('without a secret key, a signing key cannot be created, and the error says what to set', async () => {
    const { organisation } = await service.tenant()
    const missing = () => {
      throw new DomainError('conflict', 'PROMPTLEDGER_SECRET_KEY must be set')
    }
    const details = {
      organisationId: organisation.id,
      name: 'x',
      role: 'signing',
      createdAt: 1,
      expiresAt: null,
    } as const
    const before = await service.store.keys.list(organisation.id)
    await assert.rejects(issueKey(service.store.keys, details, operator, { encrypt: missing }), {
      code: 'validation_error',
      message: /^role cannot be signing.+ Its operator must set PROMPTLEDGER_SECRET_KEY/,
    })
    assert.deepEqual(await service.store.keys.list(organisation.id), before)
  })

  test('creating, rotating and revoking a signing key is audited', async () => {
    const tenant = await service.tenant('free', 'admin')
    const headers = { ...tenant.headers, 'content-type': 'application/json' }
    const post = async (url: string, body: object) =>
      (
        await service.app.inject({ method: 'POST', url: `/api/v1/keys${url}`, headers, payload: JSON.stringify(body) })
      ).json().data
    const { id } = await post('', { name: 'pages', role: 'signing' })
    const { id: replacement, key } = await post(`/${id}/rotate`, {})
    assert.match(key, /^pls_/)
    await service.app.inject({ method: 'DELETE', url: `/api/v1/keys/${replacement}`, headers: tenant.headers })
    const { data } = (await service.app.inject({ url: '/api/v1/audit', headers: tenant.headers })).json()
    const entries = data.map(({ action, details }: Record<string, unknown>) => [action, details])
    assert.deepEqual(entries.slice(0, 3), [
      ['key.revoked', null],
      ['key.rotated', { new_key_id: replacement }],
      ['key.created', { role: 'signing' }],
    ])
  })
})
