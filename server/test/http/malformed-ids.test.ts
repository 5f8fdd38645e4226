import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '../../../contract/index.ts'
import { onPostgres, postgres } from '../../../testing/engines.ts'
import { useService } from '../../../testing/service.ts'

onPostgres('Malformed IDs', () => {
  const service = useService(postgres)

  test('every operation rejects an ID that PostgreSQL cannot store', async () => {
    const tenant = await service.tenant('free', 'admin')
    for (const { id, method, path } of operations) {
      const parameters = [...path.matchAll(/:\w+/g)].map(([parameter]) => parameter)
      for (const parameter of parameters) {
        const others = path.replace(parameter, '%00').replaceAll(':prompt_id', tenant.prompt.publicId)
        const headers = { ...tenant.headers, 'content-type': 'application/json' }
        const payload = method === 'GET' || method === 'DELETE' ? {} : { payload: '{}' }
        const response = await service.app.inject({ method, url: others.replaceAll(/:\w+/g, '1'), headers, ...payload })
        assert.ok(response.statusCode < 500, `${id} ${parameter}: ${response.statusCode}`)
      }
    }
  })
})
