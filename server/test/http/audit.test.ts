import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntryBody } from '../../../contract/audit.ts'
import { runCli, runCliJson } from '../../../testing/cli.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import {
  type DocumentedOperation,
  documentedOperations,
  prepareRequest,
  sendRequest,
} from '../../../testing/operations.ts'
import { queryEach, queryRows } from '../../../testing/rows.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { type Access, hashSecret } from '../../src/domain/access/api-key.ts'
import { type AuditAction, auditActions, operator } from '../../src/domain/access/audit.ts'
import { startSession } from '../../src/domain/access/session.ts'
import type { Document } from '../../src/http/docs/openapi-document.ts'
import { cookieWith } from './session-requests.ts'

/** The audit action of each operation that changes something. */
const actionOf: Record<string, AuditAction> = {
  createKey: 'key.created',
  rotateKey: 'key.rotated',
  revokeKey: 'key.revoked',
  createShare: 'share.created',
  revokeShare: 'share.revoked',
  createPrompt: 'prompt.created',
  renamePrompt: 'prompt.renamed',
  deletePrompt: 'prompt.deleted',
  declareSegments: 'organisation.segments_changed',
  declarePromptSegments: 'prompt.segments_changed',
  updateDeliverySettings: 'organisation.delivery_changed',
  setEvaluationRules: 'organisation.evaluations_changed',
  startTrial: 'trial.started',
  updateTrial: 'trial.changed',
  connectRepository: 'repository.connected',
  updateRepository: 'repository.updated',
  disconnectRepository: 'repository.disconnected',
  rotateRepositorySecret: 'repository.secret_rotated',
  recordHistory: 'history.recorded',
  recordPromptDeployment: 'deployment.recorded',
  recordRepositoryDeployment: 'deployment.recorded',
  dismissRegression: 'regression.dismissed',
  updateRegression: 'regression.triaged',
  dismissShift: 'shift.dismissed',
  updateShift: 'shift.triaged',
  addAlert: 'alert.added',
  updateAlert: 'alert.updated',
  removeAlert: 'alert.removed',
  rotateAlertSecret: 'alert.secret_rotated',
  testAlert: 'alert.tested',
  retryAlertDelivery: 'alert.delivery_retried',
  addSource: 'source.added',
  updateSource: 'source.updated',
  removeSource: 'source.removed',
  retractSignal: 'signal.retracted',
  eraseSignals: 'signals.erased',
  exportSignals: 'signals.exported',
  exportTimeline: 'history.exported',
  renameOrganisation: 'organisation.renamed',
  signIn: 'session.started',
  endSession: 'session.ended',
  updatePerson: 'person.role_changed',
  deletePerson: 'person.deleted',
  createInvitation: 'invitation.created',
  revokeInvitation: 'invitation.revoked',
}

/** Operations without an audit entry: they record signals, start a sync, sign out, or read. A proposal that is open already is read. */
const unaudited = [
  'recordExposures',
  'createSignal',
  'createSignals',
  'createVote',
  'receiveEvents',
  'syncRepository',
  'redeliver',
  'proposeRevert',
  'signOut',
  'previewErasure',
]

onOneEngine('The audit log', (engine) => {
  const service = useService(engine)

  async function auditedOperations(): Promise<DocumentedOperation[]> {
    const document: Document = (await service.app.inject('/openapi.json')).json()
    return documentedOperations(document)
      .filter(({ path }) => path.startsWith('/api/v1/'))
      .filter(({ method, operation }) => method !== 'get' || operation.operationId.startsWith('export'))
      .filter(({ operation }) => !unaudited.includes(operation.operationId))
  }

  async function audit({ headers }: Pick<Tenant, 'headers'>, query = ''): Promise<AuditEntryBody[]> {
    const response = await service.app.inject({ url: `/api/v1/audit${query}`, headers })
    assert.equal(response.statusCode, 200, response.body)
    return response.json().data
  }

  const keyIdOf = async ({ organisation, key }: Tenant) =>
    (await service.store.keys.list(organisation.id)).find(({ hint }) => hint === key.slice(-4))?.id

  const actionsOf = async (tenant: Tenant) => (await audit(tenant)).map(({ action }) => action)

  test('every operation that changes something writes exactly one audit entry, with the key that was used', async (t) => {
    const operations = await auditedOperations()
    assert.deepEqual(operations.map(({ operation }) => operation.operationId).sort(), Object.keys(actionOf).sort())
    for (const documented of operations) {
      await t.test(documented.name, async () => {
        const prepared = await prepareRequest(service, documented)
        const { tenant } = prepared
        const keyId = await keyIdOf(tenant)
        const before = await audit(tenant, '?limit=100')
        const response = await sendRequest(service, documented, prepared)
        assert.equal(response.statusCode, documented.success.status, response.body)
        const after = await audit(tenant, '?limit=100')
        assert.equal(after.length, before.length + 1)
        const earlierIds = new Set(before.map(({ id }) => id))
        const [entry] = after.filter(({ id }) => !earlierIds.has(id))
        assert.equal(entry?.action, actionOf[documented.operation.operationId])
        assert.deepEqual(entry?.actor, { key_id: keyId, name: 'test', person_id: null })
        assert.equal(entry?.at, new Date(service.now).toISOString())
        assert.ok(entry?.subject.id && entry.subject.name, JSON.stringify(entry))
      })
    }
  })

  test('a change that cannot be audited does not happen', async (t) => {
    const tables = [
      'organisations',
      'api_keys',
      'people',
      'invitations',
      'sessions',
      'prompts',
      'history_entries',
      'repositories',
      'deployments',
      'regressions',
      'shift_triage',
      'alerts',
      'alert_deliveries',
      'signals',
      // On PostgreSQL, the rows of an hour are put together in the background.
      `(select organisation_id, prompt_id, hour, sum(positive) as positive, sum(negative) as negative from hour_sums
        group by organisation_id, prompt_id, hour) as sums`,
    ]
    // last_used_at is written in the background and does not belong to the change.
    const state = async () => {
      const rows = await queryEach(
        service.url,
        tables.map((table) => `select * from ${table}`),
      )
      // An update that is undone by another one changes the order on PostgreSQL.
      return rows.map((tableRows) => tableRows.map(({ last_used_at: _, ...row }) => JSON.stringify(row)).sort())
    }
    const withoutAuditTable = async <T>(work: () => Promise<T>): Promise<T> => {
      await queryRows(service.url, 'alter table audit rename to audit_elsewhere')
      try {
        return await work()
      } finally {
        await queryRows(service.url, 'alter table audit_elsewhere rename to audit')
      }
    }
    for (const documented of await auditedOperations()) {
      await t.test(documented.name, async () => {
        const prepared = await prepareRequest(service, documented)
        const before = await state()
        const { statusCode } = await withoutAuditTable(() => sendRequest(service, documented, prepared))
        assert.equal(statusCode, 500)
        assert.deepEqual(await state(), before)
      })
    }
    const tenant = await service.tenant()
    const setPlan = () => service.store.organisations.setPlan(tenant.organisation.id, 'team', 1, operator)
    await assert.rejects(withoutAuditTable(setPlan))
    assert.equal((await service.store.organisations.find(tenant.organisation.id))?.plan, 'free')
  })

  test('concurrent and repeated changes write one audit entry', async () => {
    const { tenant, repository } = await connectedScenario(service)
    const { store, now } = service
    const { id } = (await tenant.signal({ value: 'positive' })).json().data
    const keyId = (await keyIdOf(tenant)) as number
    const actions: [AuditAction, () => Promise<unknown>][] = [
      ['signal.retracted', () => store.signals.delete(tenant.prompt, id, now, operator)],
      ['prompt.segments_changed', () => store.segments.setForPrompt(tenant.prompt, ['a'], now, operator)],
      [
        'organisation.segments_changed',
        () => store.segments.setForOrganisation(tenant.organisation.id, ['a'], now, operator),
      ],
      [
        'organisation.delivery_changed',
        () => store.liveTexts.updateSettings(tenant.organisation.id, { enabled: true }, now, operator),
      ],
      [
        'organisation.evaluations_changed',
        () =>
          store.telemetry.setRules(tenant.organisation.id, [{ name: 'a', source: null, threshold: 1 }], now, operator),
      ],
      ['prompt.deleted', () => store.prompts.delete(tenant.prompt, now, operator)],
      ['repository.disconnected', () => store.repositories.disconnect(repository, now, operator)],
      ['organisation.renamed', () => store.organisations.rename(tenant.organisation.id, 'Other', now, operator)],
      ['organisation.plan_changed', () => store.organisations.setPlan(tenant.organisation.id, 'team', now, operator)],
      ['key.revoked', () => store.keys.revoke(keyId, now, operator)],
    ]
    const admin = { headers: { authorization: `Bearer ${await service.key(tenant.organisation, 'admin')}` } }
    for (const [action, change] of actions) {
      await Promise.all(Array.from({ length: 5 }, change))
      await change()
      assert.equal((await audit(admin, `?action=${action}`)).length, 1, action)
    }
  })

  test('a rejected request writes no audit entry', async () => {
    const tenant = await service.tenant('free', 'admin')
    const standard = await service.key(tenant.organisation, 'standard')
    const otherId = await keyIdOf(await service.tenant())
    const before = await audit(tenant)
    const rejected = [
      ['POST', '/keys', { role: 'king' }, 422],
      ['POST', '/keys', {}, 403, standard],
      ['DELETE', `/keys/${otherId}`, undefined, 404],
      ['POST', '/prompts', { name: '' }, 422],
      ['POST', '/signals/erase', { metadata: {} }, 422],
      ['DELETE', `/prompts/${tenant.prompt.publicId}/signals/987654321`, undefined, 404],
    ] as const
    for (const [method, path, body, status, key = tenant.key] of rejected) {
      const response = await service.app.inject({
        method,
        url: `/api/v1${path}`,
        headers: { authorization: `Bearer ${key}` },
        ...(body && { payload: body }),
      })
      assert.equal(response.statusCode, status, response.body)
    }
    assert.deepEqual(await audit(tenant), before)
  })

  test('audit entries are listed newest first, paginated, filtered by action and time, and only for the organisation', async () => {
    const [tenant, other] = [await service.tenant('free', 'admin'), await service.tenant('free', 'admin')]
    const start = service.now
    try {
      for (const name of ['a', 'b', 'c']) {
        service.now += 1_000
        await service.app.inject({
          method: 'PATCH',
          url: tenant.path,
          headers: tenant.headers,
          payload: { name },
        })
      }
    } finally {
      service.now = start
    }
    const renames = await audit(tenant, '?action=prompt.renamed')
    assert.deepEqual(
      renames.map(({ subject, details, at }) => [subject, details, Date.parse(at) - start]),
      [
        [{ id: tenant.prompt.publicId, name: 'c' }, { from: 'b' }, 3_000],
        [{ id: tenant.prompt.publicId, name: 'b' }, { from: 'a' }, 2_000],
        [{ id: tenant.prompt.publicId, name: 'a' }, { from: 'prompts/a.md' }, 1_000],
      ],
    )
    assert.deepEqual(await actionsOf(tenant), [...Array(3).fill('prompt.renamed'), 'prompt.created', 'key.created'])
    assert.deepEqual(await actionsOf(other), ['prompt.created', 'key.created'])
    const at = (ms: number) => new Date(start + ms).toISOString()
    assert.deepEqual(await audit(tenant, `?since=${at(2_000)}&until=${at(3_000)}`), [renames[1]])
    const { data, pagination } = (
      await service.app.inject({ url: '/api/v1/audit?page=2&limit=2', headers: tenant.headers })
    ).json()
    assert.deepEqual(pagination, { current_page: 2, total_pages: 3, total_count: 5, per_page: 2 })
    assert.deepEqual(data[0], renames[2])
    const keyId = await keyIdOf(tenant)
    assert.deepEqual(await audit(tenant, `?actor=${keyId}`), renames)
    assert.deepEqual(
      (await audit(tenant, '?actor=operator')).map(({ action }) => action),
      ['prompt.created', 'key.created'],
    )
    assert.deepEqual(await audit(tenant, `?actor=${await keyIdOf(other)}`), [])
    for (const query of [
      'actor=0',
      'actor=1e3',
      'action=key.stolen',
      'since=yesterday',
      `since=${at(1)}&until=${at(1)}`,
    ]) {
      const response = await service.app.inject({ url: `/api/v1/audit?${query}`, headers: tenant.headers })
      assert.equal(response.statusCode, 422, query)
    }
    for (const role of ['ingest', 'standard'] as const) {
      const headers = { authorization: `Bearer ${await service.key(tenant.organisation, role)}` }
      assert.equal((await service.app.inject({ url: '/api/v1/audit', headers })).statusCode, 403)
    }
  })

  test('audit entries have the details of each change and no secrets', async () => {
    const { tenant, repository, secret } = await connectedScenario(service)
    const { store, now } = service
    const keyId = (await keyIdOf(tenant)) as number
    const headers = { ...tenant.headers, 'content-type': 'application/json' }
    const rotated = await service.app.inject({ method: 'POST', url: `/api/v1/keys/${keyId}/rotate`, headers })
    const { id: newKeyId, key } = rotated.json().data
    await store.organisations.setPlan(tenant.organisation.id, 'team', now, operator)
    const { id } = (await tenant.signal({ value: 'negative', metadata: { user: 'u-123' } })).json().data
    await store.signals.delete(tenant.prompt, id, now, operator)
    await tenant.signal({ value: 'negative', metadata: { user: 'u-123' } })
    await service.app.inject({
      method: 'POST',
      url: '/api/v1/signals/erase',
      headers,
      payload: { metadata: { user: 'u-123' } },
    })
    const organisation = { id: String(tenant.organisation.id), name: 'Acme' }
    const actor = { key_id: keyId, name: 'test', person_id: null }
    const { url } = repository
    assert.deepEqual(
      (await audit(tenant)).map(({ actor, action, subject, details }) => [actor, action, subject, details]),
      [
        [actor, 'signals.erased', organisation, { erased: 1 }],
        [null, 'signal.retracted', { id: String(id), name: tenant.prompt.name }, { prompt_id: tenant.prompt.publicId }],
        [null, 'organisation.plan_changed', organisation, { from: 'free', to: 'team' }],
        [actor, 'key.rotated', { id: String(keyId), name: 'test' }, { new_key_id: newKeyId }],
        [
          null,
          'repository.connected',
          { id: String(repository.id), name: url },
          { forge: 'github', path: 'prompts/**' },
        ],
        [null, 'prompt.created', { id: tenant.prompt.publicId, name: tenant.prompt.name }, null],
        [null, 'key.created', { id: String(keyId), name: 'test' }, { role: 'admin' }],
      ],
    )
    const rows = JSON.stringify(await queryRows(service.url, 'select * from audit'), (_, value) =>
      typeof value === 'bigint' ? Number(value) : value,
    )
    for (const text of [tenant.key, key, secret, 'u-123']) assert.ok(!rows.includes(text))
  })

  test('a change made in a session is audited with the key of the session', async () => {
    const tenant = await service.tenant('free', 'admin')
    const access = (await service.store.keys.findAccess(hashSecret(tenant.key))) as Access
    const { token } = await startSession(service.store.sessions, access, { endsBy: null }, service.now)
    const created = await service.app.inject({
      method: 'POST',
      url: '/api/v1/prompts',
      headers: { cookie: cookieWith(service, token), 'sec-fetch-site': 'same-origin' },
      payload: { name: 'By cookie' },
    })
    assert.equal(created.statusCode, 201)
    const [entry] = await audit(tenant)
    assert.deepEqual([entry?.subject.name, entry?.actor?.key_id], ['By cookie', await keyIdOf(tenant)])
  })

  test("changes made with the CLI are audited as the operator's, and the CLI lists them", async () => {
    const { id } = await service.organisation()
    const json = <T>(...args: string[]) => runCliJson<T>(service.url, args)
    await json('key', 'create', '--org', String(id), '--name', 'ci')
    await json('org', 'set-plan', String(id), 'business')
    const entries = await json<AuditEntryBody[]>('audit', '--org', String(id))
    assert.deepEqual(
      entries.map(({ actor, action }) => [actor, action]),
      [
        [null, 'organisation.plan_changed'],
        [null, 'key.created'],
      ],
    )
    const [, created] = entries
    assert.deepEqual(await json('audit', '--org', String(id), '--action', 'key.created'), [created])
    assert.deepEqual(await json('audit', '--org', String(id), '--page', '2', '--limit', '1'), [created])
    assert.deepEqual(await json('audit', '--org', String(id), '--since', '2999-01-01T00:00:00Z'), [])
    const { code, stdout } = await runCli({ DATABASE_URL: service.url }, ['audit', '--org', String(id)])
    assert.equal(code, 0)
    assert.match(stdout, /operator +key\.created +\d+ ci +\{"role":"standard"\}/)
    const wrong = await runCli({ DATABASE_URL: service.url }, ['audit', '--org', String(id), '--since', 'noon'])
    assert.deepEqual([wrong.code, wrong.stderr.split(':')[0]], [1, 'promptledger'])
  })

  // Runs last: the tests above have caused every action at least once, except those that have their own tests.
  test('every audited action is one of the documented actions', async () => {
    const rows = await queryRows(service.url, 'select distinct action from audit')
    const elsewhere: AuditAction[] = [
      'audit.chained',
      'history.imported',
      'key.rejected',
      'organisation.exported',
      'organisation.imported',
      // people.test.ts
      'person.disabled',
      'person.enabled',
      'proposal.opened',
      'secrets.reencrypted',
      'signals.imported',
      'trial.ended',
    ]
    const seen = [...rows.map(({ action }) => action), ...elsewhere]
    assert.deepEqual(seen.sort(), auditActions.toSorted())
  })
})
