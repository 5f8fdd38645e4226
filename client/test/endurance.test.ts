import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../testing/engines.ts'
import type { Fate } from '../../testing/http-proxy.ts'
import { numbersBelow, useLiveService } from './live-service.ts'

// The full run of 10,000 signals takes a minute:
// PROMPTLEDGER_SIGNALS=10000 npx node --test --test-global-setup=testing/postgres.ts client/test/endurance.test.ts
const count = Number(process.env.PROMPTLEDGER_SIGNALS ?? 2_000)

onEachEngine('An unreliable network', (engine) => {
  const service = useLiveService(engine)

  test('every signal is recorded exactly once when one request in five fails', async () => {
    const tenant = await service.tenant('business')
    const ledger = service.ledger(tenant, { maxRetries: 20 })
    const fates: Fate[] = [{ do: 'refuse' }, { do: 'cut' }, { do: 'truncate', after: 30 }, { do: 'duplicate' }]
    let failedCount = 0
    service.proxy.fate = () => (Math.random() < 0.2 ? (fates[failedCount++ % fates.length] as Fate) : { do: 'pass' })
    let next = 0
    const sendSignals = async () => {
      while (next < count) {
        const number = next++
        await ledger.signals.create(tenant.prompt.publicId, { value: 'negative', metadata: { number } })
      }
    }
    await Promise.all(Array.from({ length: 200 }, sendSignals))
    assert.ok(failedCount > count / 10, `only ${failedCount} requests failed`)
    assert.equal(await tenant.used(), count)
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(count))
  })
})
