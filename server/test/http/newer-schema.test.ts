import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres, postgres } from '../../../testing/engines.ts'
import {
  documentedOperations,
  kindOf,
  prepareRequest,
  prepareResources,
  type Resources,
  sendRequest,
} from '../../../testing/operations.ts'
import { queryRows } from '../../../testing/rows.ts'
import { TestService } from '../../../testing/service.ts'

onPostgres('While a newer version is rolled out', () => {
  test('reading works after it has added columns: no prepared statement depends on all columns of a table', async (t) => {
    const service = new TestService()
    // Each statement is sent again on the connection that has prepared it.
    service.poolSize = 1
    // Of its own, because the columns stay.
    await service.open(postgres)
    const operations = documentedOperations((await service.app.inject('/openapi.json')).json())
    const reads = operations.filter(
      ({ method, path, operation }) =>
        method === 'get' && path.startsWith('/api/v1/') && operation.operationId !== 'checkSignIn',
    )
    // Preparing a trial reads git for all, which removes texts that are not from git.
    reads.sort((a, b) => Number(b.path.includes('/trials')) - Number(a.path.includes('/trials')))
    const resources = new Map<string, Resources>()
    const requests = []
    for (const documented of reads) {
      const kind = documented.path.includes('/trials') ? documented.path : kindOf(documented)
      const known = resources.get(kind) ?? (await prepareResources(service, documented))
      resources.set(kind, known)
      const request = await prepareRequest(service, documented, known)
      await sendRequest(service, documented, request)
      requests.push({ documented, request })
    }

    const tables = await queryRows(
      service.url,
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition`,
    )
    for (const { name } of tables)
      await queryRows(service.url, `alter table ${name} add column of_newer_version integer`)
    for (const { documented, request } of requests) {
      await t.test(documented.name, async () => {
        const response = await sendRequest(service, documented, request)
        assert.equal(response.statusCode, documented.success.status, response.body)
      })
    }
  })
})
