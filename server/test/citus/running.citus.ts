import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Account, createAccount } from '../../../testing/account.ts'
import { runCliJson } from '../../../testing/cli.ts'
import { eventually } from '../../../testing/eventually.ts'
import { serve } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'
import { plain } from './plain.ts'

const kinds = ['signal', 'vote'] as const

it('a service that runs while its database is distributed goes on without a restart, and loses nothing', async (t) => {
  const { url } = await plain.create()
  const accounts: Account[] = []
  for (let i = 0; i < 4; i++) accounts.push(await createAccount(url, 'business'))
  const service = await serve(url, { LOG_LEVEL: 'silent' })
  const acknowledged: string[] = []
  const failed: string[] = []
  const counts = new Map<string, number>()
  let isStopped = false

  async function send({ key, promptId }: Account, kind: string, number: number): Promise<void> {
    const body = { value: 'positive', ...(kind === 'vote' && { subject: `answer-${number}` }) }
    const response = await fetch(`${service.address}/api/v1/prompts/${promptId}/signals`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (response.status !== 201) failed.push(`${kind}: ${response.status} ${text}`)
    else acknowledged.push(JSON.parse(text).data.id)
    const counted = `${kind} ${response.status}`
    counts.set(counted, (counts.get(counted) ?? 0) + 1)
  }
  const loops = accounts.flatMap((account) =>
    kinds.map(async (kind) => {
      for (let number = 0; !isStopped; number++) await send(account, kind, number)
    }),
  )
  const untilAllWrite = () =>
    eventually(() => kinds.every((kind) => (counts.get(`${kind} 201`) ?? 0) > 20), { timeoutMs: 60_000 })

  await untilAllWrite()
  const { rows } = await runCliJson<{ rows: Record<string, number> }>(url, ['distribute', '--shards', '4'])
  counts.clear()
  await untilAllWrite()
  isStopped = true
  await Promise.all(loops)
  assert.deepEqual(failed, [])
  const stored = await queryRows(url, 'select id from signals')
  assert.equal(stored.length, acknowledged.length)
  assert.equal(new Set(acknowledged).size, acknowledged.length)
  await assertSumsAgree(url, false)
  await service.stop()
  t.diagnostic(`${acknowledged.length} acknowledged, ${rows.signals} of them before`)
})
