import assert from 'node:assert/strict'
import { test } from 'node:test'
import { organisationSchema } from '../../../contract/organisation.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { runCliJson } from '../../../testing/cli.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import type { Organisation } from '../../src/domain/access/organisation.ts'

onOneEngine('The organisation', (engine) => {
  const service = useService(engine)

  async function organisation({ headers }: Tenant) {
    const response = await service.app.inject({ url: '/api/v1/organisation', headers })
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(organisationSchema, response)
    return response.json().data
  }

  function rename({ headers }: Tenant, payload: object) {
    return service.app.inject({ method: 'PATCH', url: '/api/v1/organisation', headers, payload })
  }

  test('every key that may read sees the name, the plan and the limits of its own organisation', async (t) => {
    const { organisationLimits } = service
    t.after(() => Object.assign(organisationLimits, { repositories: 100, signalRetentionDays: null }))
    Object.assign(organisationLimits, { repositories: 7, signalRetentionDays: 90 })
    const tenant = await service.tenant('team', 'reader')
    assert.deepEqual(await organisation(tenant), {
      id: tenant.organisation.id,
      name: 'Acme',
      plan: 'team',
      limits: { signals_per_month: 10_000, repositories: 7, alerts: 20, segment_keys: 5 },
      signal_retention_days: 90,
      created_at: '2026-11-15T12:00:00.000Z',
    })
    service.planLimits.team = null
    t.after(() => Object.assign(service.planLimits, { team: 10_000 }))
    assert.equal((await organisation(tenant)).limits.signals_per_month, null)
  })

  test('an admin renames the organisation, and the audit log has both names', async () => {
    const [tenant, other] = [await service.tenant('free', 'admin'), await service.tenant('free', 'admin')]
    const renamed = await rename(tenant, { name: 'Änderungen & <b>Söhne</b>' })
    assert.equal(renamed.statusCode, 200, renamed.body)
    assertMatchesSchema(organisationSchema, renamed)
    assert.deepEqual(await organisation(tenant), renamed.json().data)
    assert.equal(renamed.json().data.name, 'Änderungen & <b>Söhne</b>')
    assert.equal((await organisation(other)).name, 'Acme')
    const { headers } = tenant
    const session = await service.app.inject({ url: '/api/v1/session', headers })
    assert.equal(session.json().data.organisation.name, 'Änderungen & <b>Söhne</b>')
    const audit = await service.app.inject({ url: '/api/v1/audit?action=organisation.renamed', headers })
    const [entry, ...others] = audit.json().data
    assert.deepEqual([entry.details, others], [{ from: 'Acme', to: 'Änderungen & <b>Söhne</b>' }, []])
  })

  test('a name that the CLI would reject is rejected, and nothing changes', async () => {
    const tenant = await service.tenant('free', 'admin')
    const bodies = [
      {},
      { name: null },
      { name: 7 },
      { name: '' },
      { name: ' ' },
      { name: 'a\nb' },
      { name: 'a\u{200b}b' },
      { name: '\u{d800}' },
      { name: 'x'.repeat(201) },
      { plan: 'business' },
    ]
    for (const body of bodies) assertError(await rename(tenant, body), 422, 'validation_error')
    // The plan is not theirs to change.
    assert.equal((await rename(tenant, { name: 'Acme', plan: 'business' })).statusCode, 200)
    const { name, plan } = await organisation(tenant)
    assert.deepEqual([name, plan], ['Acme', 'free'])
    const { headers } = tenant
    const audit = await service.app.inject({ url: '/api/v1/audit?action=organisation.renamed', headers })
    assert.deepEqual(audit.json().data, [])
  })

  test('the operator renames an organisation with the CLI', async () => {
    const { id } = await service.organisation()
    const renamed = await runCliJson<{ name: string }>(service.url, ['org', 'rename', String(id), 'Acme Ltd'])
    assert.equal(renamed.name, 'Acme Ltd')
    assert.equal(((await service.store.organisations.find(id)) as Organisation).name, 'Acme Ltd')
  })
})
