import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { AuditEntryBody } from '../../../contract/audit.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, takeOverFlush, useService } from '../../../testing/service.ts'
import { generateSecret } from '../../src/domain/access/api-key.ts'
import { type AuditAction, operator } from '../../src/domain/access/audit.ts'
import { networkOf } from '../../src/http/client-address.ts'

const minute = 60_000
const hour = 60 * minute

test('an address counts as a network: all of IPv4, the first half of IPv6', () => {
  const networks = {
    '203.0.113.7': '203.0.113.7',
    '::ffff:203.0.113.7': '203.0.113.7',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
    '2001:db8::1': '2001:db8:0:0::/64',
    '::1': '0:0:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
  }
  for (const [address, network] of Object.entries(networks)) assert.equal(networkOf(address), network)
  assert.equal(networkOf(undefined), 'unknown')
})

onOneEngine('Repeated events in the audit log', (engine) => {
  const service = useService(engine)
  // The service itself flushes every 10 s, which could be in the middle of a test.
  let flush: (all?: boolean) => Promise<void>
  before(() => {
    flush = takeOverFlush(service)
  })

  async function entriesOf(
    { organisation }: Pick<Tenant, 'organisation'>,
    action: AuditAction,
  ): Promise<AuditEntryBody[]> {
    const headers = { authorization: `Bearer ${await service.key(organisation, 'admin')}` }
    return (await service.app.inject({ url: `/api/v1/audit?action=${action}`, headers })).json().data
  }

  const exportOf = ({ path }: Tenant, headers: Record<string, string>, query = '') =>
    service.app.inject({ url: `${path}/signals/export${query}`, headers })

  const signIn = (headers: Record<string, string>) =>
    service.app.inject({ method: 'POST', url: '/api/v1/session', headers })

  async function revokedKey({ organisation }: Tenant) {
    const secret = await service.key(organisation, 'reader')
    const keyId = (await service.store.keys.list(organisation.id)).at(-1)?.id as number
    await service.store.keys.revoke(keyId, service.now, operator)
    return { keyId, headers: { authorization: `Bearer ${secret}` } }
  }

  test('an export is audited before any data is sent, with key, prompt and format', async () => {
    const tenant = await service.tenant()
    await tenant.signal({ value: 'positive' })
    assert.equal((await exportOf(tenant, tenant.headers, '?format=csv')).statusCode, 200)
    const [entry] = await entriesOf(tenant, 'signals.exported')
    assert.equal(entry?.actor?.name, 'test')
    assert.deepEqual(entry?.subject, { id: tenant.prompt.publicId, name: tenant.prompt.name })
    assert.deepEqual(entry?.details, { format: 'csv' })
    const unaudited = await service.tenant()
    await queryRows(service.url, 'alter table audit rename to elsewhere')
    const failed = await exportOf(unaudited, unaudited.headers).finally(() =>
      queryRows(service.url, 'alter table elsewhere rename to audit'),
    )
    assert.equal(failed.statusCode, 500)
    // The failed attempt is not counted.
    assert.equal((await exportOf(unaudited, unaudited.headers)).statusCode, 200)
    assert.deepEqual(
      (await entriesOf(unaudited, 'signals.exported')).map(({ details }) => details),
      [{ format: 'ndjson' }],
    )
  })

  test('a rejected export is not audited', async () => {
    const tenant = await service.tenant()
    assert.equal((await exportOf(tenant, tenant.headers, '?format=xml')).statusCode, 422)
    assert.deepEqual(await entriesOf(tenant, 'signals.exported'), [])
  })

  test('a flood of exports or sign-ins becomes two entries a minute, and none is lost', async (t) => {
    const tenant = await service.tenant('free', 'reader')
    const start = service.now
    t.after(() => {
      service.now = start
    })
    // A key may have only so many exports in flight, so a few at a time.
    for (let i = 0; i < 20; i++) await Promise.all([1, 2].map(() => exportOf(tenant, tenant.headers)))
    for (let i = 0; i < 20; i++) await Promise.all([1, 2].map(() => signIn(tenant.headers)))
    const details = async (action: AuditAction) => (await entriesOf(tenant, action)).map(({ details }) => details)
    await flush()
    assert.deepEqual(await details('signals.exported'), [{ format: 'ndjson' }])
    assert.deepEqual(await details('session.started'), [null])
    service.now += minute
    await flush()
    assert.deepEqual(await details('signals.exported'), [{ format: 'ndjson', count: 39 }, { format: 'ndjson' }])
    assert.deepEqual(await details('session.started'), [{ count: 39 }, null])
    service.now += minute
    await flush()
    assert.equal((await signIn(tenant.headers)).statusCode, 201)
    assert.equal((await details('session.started')).length, 3)
  })

  test('the first event after a period writes what the period left, before its response', async (t) => {
    const tenant = await service.tenant('free', 'reader')
    const start = service.now
    t.after(() => {
      service.now = start
    })
    for (let i = 0; i < 3; i++) await signIn(tenant.headers)
    service.now += minute
    await signIn(tenant.headers)
    const details = (await entriesOf(tenant, 'session.started')).map(({ details }) => details)
    assert.deepEqual(details, [{ count: 3 }, null])
  })

  test('a clock that is set back does not silence the audit log', async (t) => {
    const tenant = await service.tenant('free', 'reader')
    const start = service.now
    t.after(() => {
      service.now = start
    })
    await signIn(tenant.headers)
    service.now -= 24 * hour
    await signIn(tenant.headers)
    assert.equal((await entriesOf(tenant, 'session.started')).length, 2)
  })

  test('a sign-in is audited with its key', async () => {
    const tenant = await service.tenant()
    await signIn(tenant.headers)
    const [entry] = await entriesOf(tenant, 'session.started')
    assert.deepEqual(entry?.subject, { id: String(entry?.actor?.key_id), name: 'test' })
    assert.equal(entry?.at, new Date(service.now).toISOString())
  })

  test('a revoked or expired key that is still used appears once an hour with a count, however often it is sent', async (t) => {
    const tenant = await service.tenant()
    const start = service.now
    t.after(() => {
      service.now = start
    })
    const expired = { authorization: `Bearer ${await service.key(tenant.organisation, 'reader', service.now + 1)}` }
    const { keyId, headers } = await revokedKey(tenant)
    service.now += 1
    const flood = () => Promise.all(Array.from({ length: 100 }, () => exportOf(tenant, headers)))
    for (const response of await flood()) assert.equal(response.statusCode, 401)
    await exportOf(tenant, expired)
    assert.deepEqual(await entriesOf(tenant, 'key.rejected'), [], 'a rejection must not wait for the database')
    await flush()
    await flood()
    await flush()
    const network = '127.0.0.1'
    const first = await entriesOf(tenant, 'key.rejected')
    assert.deepEqual(
      first.map(({ details }) => details),
      [
        { reason: 'expired', network },
        { reason: 'revoked', network, count: 100 },
      ],
    )
    assert.deepEqual(first[1]?.subject, { id: String(keyId), name: 'test' })
    service.now += hour
    await flush()
    const [next] = await entriesOf(tenant, 'key.rejected')
    assert.deepEqual(next?.details, { reason: 'revoked', network, count: 100 })
    assert.equal((await service.store.audit.verify(tenant.organisation.id)).brokenAt, null)
  })

  test('a key that is tried from everywhere has a bounded number of entries', async () => {
    const tenant = await service.tenant()
    const { headers } = await revokedKey(tenant)
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        service.app.inject({ url: '/api/v1/usage', headers, remoteAddress: `203.0.113.${i}` }),
      ),
    )
    await flush()
    const entries = await entriesOf(tenant, 'key.rejected')
    assert.equal(entries.length, 17)
    const other = entries.find(({ details }) => details?.network === 'other')
    assert.deepEqual(other?.details, { reason: 'revoked', network: 'other', count: 84 })
  })

  test('an unknown key is logged at most once a minute and never audited, and a request without a key is neither', async () => {
    const tenant = await service.tenant()
    const warnings = () =>
      service.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'rejected unknown API keys')
    const rows = async () => Number((await queryRows(service.url, 'select count(*) as n from audit'))[0]?.n)
    const before = { warnings: warnings().length, rows: await rows() }
    await service.app.inject({ url: '/api/v1/usage' })
    assert.equal(warnings().length, before.warnings)
    const secret = generateSecret()
    for (const key of [secret, 'plk_mistyped', secret]) {
      await service.app.inject({ url: '/api/v1/usage', headers: { authorization: `Bearer ${key}` } })
    }
    await flush(true)
    assert.ok(warnings().length <= before.warnings + 1)
    const [warning] = warnings()
    assert.deepEqual([warning.rejected, warning.networks], [1, ['127.0.0.1']])
    assert.ok(!JSON.stringify(warnings()).includes(secret.slice(4)))
    assert.equal(await rows(), before.rows)
    assert.equal((await service.store.audit.verify(tenant.organisation.id)).brokenAt, null)
  })

  test('counts that have not been written are written when the service stops', async () => {
    const tenant = await service.tenant('free', 'reader')
    for (let i = 0; i < 3; i++) await signIn(tenant.headers)
    await flush(true)
    assert.deepEqual(
      (await entriesOf(tenant, 'session.started')).map(({ details }) => details),
      [{ count: 2 }, null],
    )
  })

  test('a count that could not be written is written by the next flush', async () => {
    const tenant = await service.tenant()
    const { headers } = await revokedKey(tenant)
    await exportOf(tenant, headers)
    await queryRows(service.url, 'alter table audit rename to elsewhere')
    await assert.rejects(flush().finally(() => queryRows(service.url, 'alter table elsewhere rename to audit')))
    await exportOf(tenant, headers)
    await flush()
    const details = (await entriesOf(tenant, 'key.rejected')).map(({ details }) => details)
    assert.deepEqual(details, [{ reason: 'revoked', network: '127.0.0.1', count: 2 }])
  })
})
