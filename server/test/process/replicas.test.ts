import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { runCliJson } from '../../../testing/cli.ts'
import { onPostgres, postgres } from '../../../testing/engines.ts'
import { type RunningProcess, startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'

onPostgres('The monthly limit across replicas', () => {
  test('of 1,500 concurrent requests to 3 processes, exactly 1,000 succeed on the Free plan', async (t) => {
    const database = await postgres.create()
    const env = { DATABASE_URL: database.url, PROMPTLEDGER_FIRST_RUN: 'off' }
    const services = await Promise.all([1, 2, 3].map(() => startServe(env)))
    const { id } = await runCliJson<{ id: number }>(database.url, ['org', 'create', 'Acme'])
    const { key } = await runCliJson<{ key: string }>(database.url, ['key', 'create', '--org', String(id)])
    const createPrompt = ['prompt', 'create', '--org', String(id), '--name', 'a']
    const prompt = await runCliJson<{ id: string }>(database.url, createPrompt)

    // 200 connections for each process: thousands of new connections at once would time out on a busy machine.
    const agent = new Agent({ keepAlive: true, maxSockets: 200 })
    t.after(() => agent.destroy())
    const send = ({ port }: RunningProcess): Promise<{ status: number; used?: number }> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const path = `/api/v1/prompts/${prompt.id}/signals`
        request({ agent, host: '127.0.0.1', port, method: 'POST', path, headers }, async (response) => {
          const body = JSON.parse((await Array.fromAsync(response)).join(''))
          resolve({ status: response.statusCode as number, used: body.error?.used })
        })
          .on('error', reject)
          .end('{"value":"positive"}')
      })
    const responses = await Promise.all(
      Array.from({ length: 1_500 }, (_, i) => send(services[i % services.length] as RunningProcess)),
    )
    for (const service of services) assert.equal(await service.stop(), 0)

    const rejected = responses.filter(({ status }) => status === 429)
    assert.equal(responses.filter(({ status }) => status === 201).length, 1_000)
    assert.equal(rejected.length, 500)
    assert.deepEqual([...new Set(rejected.map(({ used }) => used))], [1_000])
    const [stored] = await queryRows(database.url, 'select count(*) as n, count(distinct id) as ids from signals')
    const [usage] = await queryRows(database.url, 'select sum(used) as used from month_usage')
    assert.deepEqual([Number(stored?.n), Number(stored?.ids), Number(usage?.used)], [1_000, 1_000, 1_000])
  })
})
