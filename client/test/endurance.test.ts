import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../testing/engines.ts'
import type { Fate } from '../../testing/http-proxy.ts'
import { fileSpool } from '../src/spool.ts'
import { numbersBelow, useLiveService } from './live-service.ts'
import { createSpoolPath } from './spool-path.ts'

// The full run of 10,000 signals takes a minute:
// PROMPTLEDGER_SIGNALS=10000 npx node --test --test-global-setup=testing/setup.ts client/test/endurance.test.ts
const count = Number(process.env.PROMPTLEDGER_SIGNALS ?? 500)

onOneEngine('An unreliable network', (engine) => {
  const service = useLiveService(engine)

  function failOneInFive(): { count: number } {
    const fates: Fate[] = [{ do: 'refuse' }, { do: 'cut' }, { do: 'truncate', after: 30 }, { do: 'duplicate' }]
    const failures = { count: 0 }
    let requests = 0
    // Beginning with the first: a fast machine sends all that is queued with one request.
    service.proxy.fate = () =>
      requests++ % 5 === 0 ? (fates[failures.count++ % fates.length] as Fate) : { do: 'pass' }
    return failures
  }

  test('every signal is recorded exactly once when one request in five fails', async () => {
    const tenant = await service.tenant('business')
    const ledger = service.ledger(tenant, { maxRetries: 20 })
    const failures = failOneInFive()
    let next = 0
    const sendSignals = async () => {
      while (next < count) {
        const number = next++
        await ledger.signals.create(tenant.prompt.publicId, { value: 'negative', metadata: { number } })
      }
    }
    await Promise.all(Array.from({ length: 50 }, sendSignals))
    assert.ok(failures.count > count / 10, `only ${failures.count} requests failed`)
    assert.equal(await tenant.used(), count)
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(count))
  })

  test('every queued signal is recorded exactly once when one request in five fails', async () => {
    const tenant = await service.tenant('business')
    const dropped: unknown[] = []
    const onError = (error: unknown) => dropped.push(error)
    const spool = fileSpool(await createSpoolPath())
    const queue = service.queue(tenant, { spool, onError, maxRetries: 20, maxSize: count })
    const failures = failOneInFive()
    for (const number of numbersBelow(count)) {
      queue.add(tenant.prompt.publicId, { value: 'negative', metadata: { number } })
      // As in a busy server, where signals arrive while others are being sent.
      if (number % 10 === 0) await new Promise(setImmediate)
    }
    await queue.close()
    assert.deepEqual(dropped, [])
    assert.ok(failures.count > 0)
    assert.equal(await tenant.used(), count)
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(count))
  })
})
