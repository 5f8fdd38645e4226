import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { GitHttpServer } from '../../../testing/git-http.ts'
import { regressionMessage } from '../../../testing/regression-message.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { createRemote, repositoryClient } from './repository-client.ts'

onOneEngine('The switch of reports on pull requests', (engine) => {
  const service = useService(engine)
  const { admin, connect, request } = repositoryClient(service)
  const patch = async (tenant: Tenant, id: number, body: object) => {
    const response = await request(tenant, 'PATCH', `/${id}`, body)
    assert.equal(response.statusCode, 200, response.body)
    return response.json().data
  }
  const get = async (tenant: Tenant, id: number) => (await request(tenant, 'GET', `/${id}`)).json().data
  const details = async (tenant: Tenant) => {
    const audit = await service.app.inject({ url: '/api/v1/audit?limit=1', headers: tenant.headers })
    return audit.json().data[0].details
  }

  test('reports are off until they are turned on, which is audited', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const { id } = await connect(tenant, git)
    assert.partialDeepStrictEqual(await get(tenant, id), { reports_on_pulls: false, report_error: null })
    assert.equal((await patch(tenant, id, { reports_on_pulls: true })).reports_on_pulls, true)
    assert.deepEqual(await details(tenant), { reports_on_pulls: 'on' })
    assert.equal((await patch(tenant, id, { production_environments: [] })).reports_on_pulls, true)
    assert.equal((await patch(tenant, id, { reports_on_pulls: false })).reports_on_pulls, false)
    assert.deepEqual(await details(tenant), { reports_on_pulls: 'off' })
  })

  test('a repository can be connected with reports, and says that they need a token', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const body = { forge: 'gitea', url: git.remote, path: 'prompts/**', reports_on_pulls: true }
    const response = await request(tenant, 'POST', '', body)
    assert.equal(response.statusCode, 201, response.body)
    const { id, warnings, reports_on_pulls: reports, report_error: error } = response.json().data
    assert.equal(reports, true)
    assert.match(error, /^Reports on pull requests need a token with the scopes write:issue and write:repository\./)
    assert.deepEqual(warnings, [error])
    assert.partialDeepStrictEqual(await details(tenant), { reports_on_pulls: 'on' })
    assert.equal((await patch(tenant, id, { reports_on_pulls: false })).report_error, null)
    assert.deepEqual((await patch(tenant, id, { reports_on_pulls: true })).warnings, [error])
  })

  test('the switch is true or false', async () => {
    const [tenant, git] = [await admin(), createRemote()]
    const { id } = await connect(tenant, git)
    for (const value of ['on', 1, null]) {
      assertError(await request(tenant, 'PATCH', `/${id}`, { reports_on_pulls: value }), 422, 'validation_error')
    }
  })

  test('a new token clears the error, and reports that failed are decided again if their regression is open', async () => {
    Object.assign(service.syncContext, { allowPrivateAddresses: true, allowHttp: true })
    const [tenant, git, server] = [await admin(), createRemote(), await new GitHttpServer().start()]
    server.folders.set('/acme/prompts.git', git.remote)
    const body = { forge: 'gitea', url: server.url('/acme/prompts.git'), path: 'prompts/**', reports_on_pulls: true }
    const connected = await request(tenant, 'POST', '', { ...body, token: 'first-token' })
    assert.equal(connected.statusCode, 201, connected.body)
    const { id } = connected.json().data
    const repository = { id, organisationId: tenant.organisation.id }
    const { organisationId } = repository
    const message = JSON.stringify(regressionMessage(repository))
    const add = (id: number, state: string, error: string | null, alertId: number | null) =>
      queryRows(
        service.url,
        `insert into alert_deliveries (organisation_id, public_id, notice_id, alert_id, event, round, message, state, attempts,
           due_at, error, created_at, finished_at)
         values (${organisationId}, 'msg_${id}${state}${alertId}', ${id}, ${alertId}, 'regression.opened', 1, '${message}', '${state}', 3,
           0, ${error === null ? null : `'${error}'`}, 0, 0)`,
      )
    const notices = await Promise.all(
      ['open', 'ended'].map(async (state) => {
        const [notice] = await queryRows(
          service.url,
          `insert into notices (organisation_id, kind, subject, state, opened_at)
           values (${organisationId}, 'regression', 'pull/x/${state}', '${state}', 0) returning id`,
        )
        return Number(notice?.id)
      }),
    )
    for (const notice of notices) {
      await add(notice, 'failed', 'no', null)
      await add(notice, 'sent', null, 18)
      await add(notice, 'failed', 'no', 17)
    }
    await service.store.pullComments.recordError(repository, 'The token lacks a scope.')
    assert.equal((await get(tenant, id)).report_error, 'The token lacks a scope.')
    assert.equal((await patch(tenant, id, { production_environments: [] })).report_error, 'The token lacks a scope.')

    assert.equal((await patch(tenant, id, { token: 'second-token' })).report_error, null)
    const cancelled = await queryRows(
      service.url,
      `select notice_id, alert_id from alert_deliveries where organisation_id = ${organisationId} and state = 'cancelled'`,
    )
    assert.deepEqual(
      cancelled.map((row) => [Number(row.notice_id), row.alert_id]),
      [[notices[0], null]],
    )
    const due = await service.store.notices.due(service.now, 100)
    assert.deepEqual(
      due.filter((notice) => notice.organisationId === organisationId).map((notice) => notice.id),
      [notices[0]],
    )
  })
})
