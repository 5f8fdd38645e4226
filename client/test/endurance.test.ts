import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../testing/engines.ts'
import type { Fate } from '../../testing/http-proxy.ts'
import { useLiveService } from './ledger.ts'

// In full, it takes a minute:
// PROMPTLEDGER_SIGNALS=10000 npx node --test --test-global-setup=testing/postgres.ts client/test/endurance.test.ts
const count = Number(process.env.PROMPTLEDGER_SIGNALS ?? 2_000)

onEachEngine('Signals', (engine) => {
  const service = useLiveService(engine)

  test('arrive once each through a connection that fails one time in five', async () => {
    const tenant = await service.tenant('business')
    const ledger = service.ledger(tenant, { maxRetries: 20 })
    const fates: Fate[] = [{ do: 'refuse' }, { do: 'cut' }, { do: 'truncate', after: 30 }, { do: 'duplicate' }]
    let failed = 0
    service.proxy.fate = () => (Math.random() < 0.2 ? (fates[failed++ % fates.length] as Fate) : { do: 'pass' })
    let next = 0
    const sender = async () => {
      while (next < count) {
        const number = next++
        await ledger.signals.create(tenant.prompt.publicId, { value: 'negative', metadata: { number } })
      }
    }
    await Promise.all(Array.from({ length: 200 }, sender))
    assert.ok(failed > count / 10, `only ${failed} failed`)
    assert.equal(await tenant.used(), count)
    service.proxy.reset()
    const numbers: number[] = []
    for await (const { metadata } of ledger.signals.export(tenant.prompt.publicId)) {
      numbers.push(Number(metadata?.number))
    }
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      Array.from({ length: count }, (_, number) => number),
    )
  })
})
