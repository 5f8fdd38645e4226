import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCliJson } from '../../../testing/cli.ts'
import { onPostgres, postgres } from '../../../testing/engines.ts'
import { startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'

onPostgres('The monthly limit across replicas', () => {
  test('of 3,000 simultaneous requests to 4 processes, exactly 1,000 succeed on the Free plan', async () => {
    const database = await postgres.create()
    const env = { DATABASE_URL: database.url, PROMPTLEDGER_FIRST_RUN: 'off' }
    const services = await Promise.all([1, 2, 3, 4].map(() => startServe(env)))
    const { id } = await runCliJson<{ id: number }>(database.url, ['org', 'create', 'Acme'])
    const { key } = await runCliJson<{ key: string }>(database.url, ['key', 'create', '--org', String(id)])
    const prompt = await runCliJson<{ id: string }>(database.url, [
      'prompt',
      'create',
      '--org',
      String(id),
      '--name',
      'a',
    ])

    const responses = await Promise.all(
      Array.from({ length: 3_000 }, async (_, i) => {
        const { address } = services[i % services.length] as (typeof services)[0]
        const response = await fetch(`${address}/api/v1/prompts/${prompt.id}/signals`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: '{"value":"positive"}',
        })
        const body = (await response.json()) as { error?: { used: number } }
        return { status: response.status, used: body.error?.used }
      }),
    )
    for (const service of services) assert.equal(await service.stop(), 0)

    const rejected = responses.filter(({ status }) => status === 429)
    assert.equal(responses.filter(({ status }) => status === 201).length, 1_000)
    assert.equal(rejected.length, 2_000)
    assert.deepEqual([...new Set(rejected.map(({ used }) => used))], [1_000])
    const [stored] = await queryRows(database.url, 'select count(*) as n, count(distinct id) as ids from signals')
    const [usage] = await queryRows(database.url, 'select used from signal_usage')
    assert.deepEqual([Number(stored?.n), Number(stored?.ids), Number(usage?.used)], [1_000, 1_000, 1_000])
  })
})
