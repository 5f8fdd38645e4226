import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Account, createAccount } from '../../../testing/account.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type RunningProcess, startServe, stopLimitMs } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { day } from '../../src/domain/time.ts'

interface Listed {
  data: { change: { id: number }; cause: { change?: { id: number } } }[]
}

onOneEngine('The judge of a running service', (engine) => {
  async function start(url: string): Promise<RunningProcess> {
    return startServe({ DATABASE_URL: url, PROMPTLEDGER_FIRST_RUN: 'off' })
  }

  async function call({ address }: RunningProcess, { key }: Account, path: string, body?: object): Promise<Listed> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${address}/api/v1${path}`, {
      headers,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    assert.ok(response.ok, await response.clone().text())
    return (await response.json()) as Listed
  }

  /** Two changes, and votes on them that are worse after the second. The last vote came just now. */
  async function postVotes(service: RunningProcess, account: Account): Promise<void> {
    const now = Date.now()
    const changes = [now - 20 * day, now - 8 * day]
    for (const [i, at] of changes.entries()) {
      await call(service, account, `/prompts/${account.promptId}/history`, {
        action: 'deployed',
        user: { name: 'Ada Lovelace', email: 'ada@example.com' },
        commit_sha: String(i + 1).repeat(40),
        pr_number: null,
        pr_url: null,
        branch_name: 'main',
        created_at: new Date(at).toISOString(),
      })
      const [until, count, rate] = i === 0 ? [changes[1] as number, 3_000, 0.9] : [now, 1_000, 0.6]
      const signals = Array.from({ length: count }, (_, vote) => ({
        prompt: account.promptId,
        value: Math.floor((vote + 1) * rate) > Math.floor(vote * rate) ? 'positive' : 'negative',
        occurred_at: new Date(at + 1 + ((until - at - 1) * (vote + 1)) / (count + 1)).toISOString(),
      }))
      for (let from = 0; from < count; from += 1_000) {
        await call(service, account, '/signals', { signals: signals.slice(from, from + 1_000) })
      }
    }
  }

  const opensRegression = (service: RunningProcess, account: Account) =>
    eventually(
      async () => {
        const { data } = await call(service, account, '/regressions?state=open')
        assert.equal(data.length, 1)
        const { data: shifts } = await call(service, account, `/prompts/${account.promptId}/shifts`)
        assert.equal(shifts[0]?.cause.change?.id, data[0]?.change.id)
      },
      { timeoutMs: 60_000, intervalMs: 250 },
    )

  test('votes open a regression within seconds, and the service still stops in time', async () => {
    const { url } = await engine.create()
    const account = await createAccount(url, 'business')
    const service = await start(url)
    await postVotes(service, account)
    await opensRegression(service, account)
    const stoppingAt = performance.now()
    assert.equal(await service.stop(), 0)
    assert.ok(performance.now() - stoppingAt < stopLimitMs)
  })

  test('votes that were not judged before a crash are judged after the restart', async () => {
    const { url } = await engine.create()
    const account = await createAccount(url, 'business')
    // So that the daily sweep is not what finds them.
    await queryRows(url, `update sweep set due_at = ${Date.now() + day}`)
    const service = await start(url)
    await postVotes(service, account)
    await service.kill()
    await queryRows(url, 'delete from regressions')
    await queryRows(url, 'delete from shifts')
    const restarted = await start(url)
    await opensRegression(restarted, account)
    await restarted.stop()
  })
})
