import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { onTestEnd } from '../../testing/cleanup.ts'
import { onOneEngine } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Tenant } from '../../testing/service.ts'
import type { QueuedSignal, QueueOptions, Spool } from '../src/index.ts'
import { fileSpool } from '../src/spool.ts'
import { numbersBelow, useLiveService } from './live-service.ts'
import { createSpoolPath } from './spool-path.ts'

onOneEngine('A queue with a spool', (engine) => {
  const service = useLiveService(engine)
  const { proxy } = service

  /** A queue as a new process would open it, and the errors it reported. */
  function openQueue(tenant: Tenant, path: string, options: QueueOptions = {}) {
    const errors: unknown[] = []
    const onError = (error: unknown, dropped: QueuedSignal | null) => errors.push([error, dropped])
    const queue = service.queue(tenant, { spool: fileSpool(path), maxRetries: 0, onError, ...options })
    const add = (number: number) => queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    return { queue, add, errors }
  }

  test('signals that could not be sent are sent by the next process', async () => {
    const tenant = await service.tenant()
    const path = await createSpoolPath()
    const first = openQueue(tenant, path)
    proxy.fate = () => ({ do: 'cut' })
    for (const number of numbersBelow(20)) first.add(number)
    await first.queue.flush()
    assert.equal(first.queue.size, 20)
    await first.queue.close()
    const second = openQueue(tenant, path)
    second.add(20)
    await second.queue.close()
    assert.deepEqual([first.errors, second.errors], [[], []])
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(21))
    assert.equal(await tenant.used(), 21)
    assert.equal(await readFile(path, 'utf8'), '')
  })

  test('spooled signals are sent once the service is back', async () => {
    const tenant = await service.tenant()
    const { queue, add, errors } = openQueue(tenant, await createSpoolPath(), { retryDelay: 300 })
    proxy.fate = () => ({ do: 'respond', status: 503 })
    for (const number of numbersBelow(10)) add(number)
    await queue.flush()
    const attempts = proxy.requests.length
    assert.ok(attempts <= 5, `${attempts} attempts, although the first one failed`)
    proxy.reset()
    await eventually(() => assert.equal(queue.size, 0))
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(10))
    await queue.close()
    assert.deepEqual(errors, [])
  })

  test('signals over the monthly limit are sent after `retryDelay`, because a larger plan takes effect at once', async () => {
    const tenant = await service.tenant()
    const { queue, add, errors } = openQueue(tenant, await createSpoolPath(), { retryDelay: 300 })
    const limit = { limit: 1, used: 1, resets_at: new Date(Date.now() + 86_400_000).toISOString() }
    const body = JSON.stringify({ error: { code: 'rate_limited', message: '…', ...limit } })
    proxy.fate = () => ({ do: 'respond', status: 429, body })
    for (const number of numbersBelow(10)) add(number)
    await queue.flush()
    assert.equal(queue.size, 10)
    proxy.reset()
    await eventually(() => assert.equal(queue.size, 0))
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(10))
    await queue.close()
    assert.deepEqual(errors, [])
  })

  test('flush has the spool on disk before it waits for the service', async () => {
    const tenant = await service.tenant()
    const spool = fileSpool(await createSpoolPath())
    let onDisk: string[] = []
    const added: string[] = []
    const watched: Spool = {
      ...spool,
      add(signal) {
        added.push(signal.key)
        spool.add(signal)
      },
      async flush() {
        await spool.flush()
        onDisk = [...added]
      },
    }
    const { queue, add } = openQueue(tenant, '', { spool: watched })
    proxy.fate = () => ({ do: 'hold' })
    for (const number of numbersBelow(10)) add(number)
    let isFlushed = false
    const flushed = queue.flush().then(() => {
      isFlushed = true
    })
    await eventually(() => assert.equal(onDisk.length, 10))
    assert.equal(isFlushed, false)
    proxy.reset()
    await flushed
  })

  test('signals sent with a wrong key or to a wrong address stay in the spool until both are right', async () => {
    const tenant = await service.tenant()
    const path = await createSpoolPath()
    const wrongKey = Object.assign(Object.create(Object.getPrototypeOf(tenant)), tenant, { key: 'plk_none' })
    const first = openQueue(wrongKey, path)
    first.add(0)
    await first.queue.close()
    const second = openQueue(tenant, path)
    proxy.fate = () => ({ do: 'respond', status: 404, body: 'no such page' })
    second.add(1)
    await second.queue.close()
    const third = openQueue(tenant, path)
    await third.queue.close()
    assert.deepEqual(await service.recordedNumbers(tenant), [0, 1])
    assert.deepEqual([first.errors, second.errors, third.errors], [[], [], []])
  })

  test('a signal that the service rejects is dropped and never sent again', async () => {
    const tenant = await service.tenant()
    const path = await createSpoolPath()
    const { queue, errors } = openQueue(tenant, path)
    queue.add('pmt_none', { value: 'positive' })
    await queue.close()
    assert.equal(errors.length, 1)
    const next = openQueue(tenant, path)
    await next.queue.close()
    assert.deepEqual(next.errors, [])
    assert.equal(proxy.requests.length, 0)
  })

  test('close stops at its timeout and leaves the rest in the spool', async () => {
    const tenant = await service.tenant()
    const path = await createSpoolPath()
    const { servedCount } = service
    const { queue, add, errors } = openQueue(tenant, path, { concurrency: 5 })
    // Opens the spool, so that the first signals are sent at once.
    await queue.flush()
    proxy.fate = () => ({ do: 'delay', milliseconds: 3_000 })
    for (const number of numbersBelow(10)) {
      add(number)
      // Signals that are added at once share a request.
      await new Promise(setImmediate)
    }
    await eventually(() => assert.equal(proxy.requests.length, 5))
    const start = performance.now()
    await queue.close({ timeout: 100 })
    assert.ok(performance.now() - start < 2_500)
    const next = openQueue(tenant, path)
    await next.queue.close()
    // The service gets the five delayed requests as well, which must not count again.
    await eventually(() => assert.equal(service.servedCount, servedCount + 5 + proxy.requests.length))
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(10))
    assert.deepEqual([errors, next.errors], [[], []])
  })

  test('killing the process again and again loses no signal and counts none twice', async () => {
    const tenant = await service.tenant()
    const path = await createSpoolPath()
    service.ledger(tenant)
    const script = fileURLToPath(new URL('voter.ts', import.meta.url))
    // Each process adds 100 signals and sends what the one before it left.
    for (let run = 0; run < 3; run++) {
      // Only every third response arrives, so that even signals that are all sent at once take three requests. The last process
      // records nothing.
      const before = proxy.requests.length
      const fateOf = (number: number) => ((number - before) % 3 === 2 ? 'pass' : 'cut')
      proxy.fate = (number) => ({ do: run === 2 ? 'refuse' : fateOf(number) })
      const args = [proxy.address, tenant.key, tenant.prompt.publicId, path, String(run * 100), '100']
      const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
      onTestEnd(() => child.kill('SIGKILL'))
      const exited = once(child, 'exit')
      await once(child.stdout, 'data')
      await eventually(() => assert.ok(proxy.requests.length >= before + 3))
      child.kill('SIGKILL')
      await exited
    }
    const recordedCount = (await service.recordedNumbers(tenant)).length
    assert.ok(recordedCount > 0 && recordedCount < 300, `${recordedCount} signals were recorded before the last kill`)
    const last = openQueue(tenant, path)
    await last.queue.close()
    assert.deepEqual(last.errors, [])
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(300))
    assert.equal(await tenant.used(), 300)
  })
})
