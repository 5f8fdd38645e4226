import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, mkdtemp, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onEachEngine, sqlite } from '../../testing/engines.ts'
import type { Tenant } from '../../testing/service.ts'
import type { QueuedSignal, QueueOptions } from '../src/index.ts'
import { fileSpool } from '../src/spool.ts'
import { useLiveService } from './ledger.ts'

onEachEngine('A spool', (engine) => {
  const service = useLiveService(engine)
  const { proxy } = service

  async function newFile(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-spool-'))
    after(() => rm(folder, { recursive: true }))
    return join(folder, 'votes', 'spool.ndjson')
  }

  async function numbersOf(tenant: Tenant): Promise<number[]> {
    const numbers: number[] = []
    for await (const { metadata } of service.ledger(tenant).signals.export(tenant.prompt.publicId)) {
      numbers.push(Number(metadata?.number))
    }
    return numbers.sort((a, b) => a - b)
  }

  const upTo = (count: number) => Array.from({ length: count }, (_, number) => number)

  /** A queue as after a start of the process, and what it lost. */
  function start(tenant: Tenant, path: string, options: QueueOptions = {}) {
    const lost: unknown[] = []
    const onError = (error: unknown, signal: QueuedSignal | null) => lost.push([error, signal])
    const queue = service.ledger(tenant).signals.queue({ spool: fileSpool(path), maxRetries: 0, onError, ...options })
    const add = (number: number) => queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    return { queue, add, lost }
  }

  test('keeps what could not be sent until the next start', async () => {
    const tenant = await service.tenant()
    const path = await newFile()
    const first = start(tenant, path)
    proxy.fate = () => ({ do: 'cut' })
    for (const number of upTo(20)) first.add(number)
    await first.queue.flush()
    assert.equal(first.queue.size, 20)
    await first.queue.close()
    const second = start(tenant, path)
    second.add(20)
    await second.queue.close()
    assert.deepEqual([first.lost, second.lost], [[], []])
    assert.deepEqual(await numbersOf(tenant), upTo(21))
    assert.equal(await tenant.used(), 21)
    assert.equal(await readFile(path, 'utf8'), '')
  })

  test('sends what it keeps as soon as the service is back', async () => {
    const tenant = await service.tenant()
    const { queue, add, lost } = start(tenant, await newFile(), { pause: 300 })
    proxy.fate = () => ({ do: 'answer', status: 503 })
    for (const number of upTo(10)) add(number)
    await queue.flush()
    const asked = proxy.passed.length
    assert.ok(asked <= 5, `asked ${asked} times, although the first said it all`)
    proxy.reset()
    for (let wait = 0; wait < 100 && queue.size > 0; wait++) await pause(50)
    assert.deepEqual(await numbersOf(tenant), upTo(10))
    await queue.close()
    assert.deepEqual(lost, [])
  })

  test('sends what was over the limit after the reset', async () => {
    const tenant = await service.tenant()
    const { queue, add, lost } = start(tenant, await newFile())
    const resets = Date.now() + 1_500
    const error = { code: 'rate_limited', message: '…', limit: 1, used: 1, resets_at: new Date(resets).toISOString() }
    const asked: number[] = []
    proxy.fate = () => {
      asked.push(Date.now())
      return Date.now() < resets ? { do: 'answer', status: 429, body: JSON.stringify({ error }) } : { do: 'pass' }
    }
    for (const number of upTo(10)) add(number)
    await queue.flush()
    assert.equal(queue.size, 10)
    for (let wait = 0; wait < 200 && queue.size > 0; wait++) await pause(50)
    assert.ok(asked.filter((at) => at < resets).length <= 5)
    assert.deepEqual(await numbersOf(tenant), upTo(10))
    await queue.close()
    assert.deepEqual(lost, [])
  })

  test('keeps what was sent with a wrong key or to a wrong address until both are right', async () => {
    const tenant = await service.tenant()
    const path = await newFile()
    const stranger = Object.assign(Object.create(Object.getPrototypeOf(tenant)), tenant, { key: 'plk_none' })
    const first = start(stranger, path)
    first.add(0)
    await first.queue.close()
    const second = start(tenant, path)
    proxy.fate = () => ({ do: 'answer', status: 404, body: 'no such page' })
    second.add(1)
    await second.queue.close()
    const third = start(tenant, path)
    await third.queue.close()
    assert.deepEqual(await numbersOf(tenant), [0, 1])
    assert.deepEqual([first.lost, second.lost, third.lost], [[], [], []])
  })

  test('gives up what nobody will ever take, for good', async () => {
    const tenant = await service.tenant()
    const path = await newFile()
    const { queue, lost } = start(tenant, path)
    queue.add('pmt_none', { value: 'positive' })
    await queue.close()
    assert.equal(lost.length, 1)
    const next = start(tenant, path)
    await next.queue.close()
    assert.deepEqual(next.lost, [])
    assert.equal(proxy.passed.length, 0)
  })

  test('closes in the time it is given and keeps the rest', async () => {
    const tenant = await service.tenant()
    const path = await newFile()
    const { queue, add, lost } = start(tenant, path)
    proxy.fate = () => ({ do: 'delay', milliseconds: 3_000 })
    for (const number of upTo(10)) add(number)
    const begin = performance.now()
    await queue.close({ timeout: 100 })
    assert.ok(performance.now() - begin < 1_500)
    const next = start(tenant, path)
    await next.queue.close()
    // By then what was still under way has arrived too.
    await pause(3_200)
    assert.deepEqual(await numbersOf(tenant), upTo(10))
    assert.deepEqual([lost, next.lost], [[], []])
  })

  test('loses nothing and counts nothing twice where the process is killed again and again', async () => {
    const tenant = await service.tenant()
    const path = await newFile()
    service.ledger(tenant)
    const script = fileURLToPath(new URL('voter.ts', import.meta.url))
    // Adds 100 at first; later runs only send what is left.
    for (let run = 0; run < 3; run++) {
      const slow = 5
      // Of every third, the answer is lost; and the service takes its time, so that there is something to be killed in.
      proxy.fate = (number) => (number % 3 === 2 ? { do: 'cut' } : { do: 'delay', milliseconds: slow })
      const args = [proxy.address, tenant.key, tenant.prompt.publicId, path, run === 0 ? '100' : '0']
      const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
      await once(child.stdout, 'data')
      await pause(400)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    const before = (await numbersOf(tenant)).length
    assert.ok(before > 0 && before < 100, `${before} had arrived by then`)
    const last = start(tenant, path)
    await last.queue.close()
    assert.deepEqual(last.lost, [])
    assert.deepEqual(await numbersOf(tenant), upTo(100))
    assert.equal(await tenant.used(), 100)
  })
})

describe('The file of a spool', () => {
  const service = useLiveService(sqlite)
  const signalOf = (number: number): QueuedSignal => ({
    key: `key-${number}`,
    promptId: 'pmt_x',
    signal: { value: 'positive', metadata: { number } },
  })
  const fail = (error: unknown) => assert.fail(String(error))

  async function newFile(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-spool-'))
    after(() => rm(folder, { recursive: true }))
    return join(folder, 'spool.ndjson')
  }

  test('may end in half a line', async () => {
    const path = await newFile()
    const line = JSON.stringify(signalOf(1))
    await writeFile(path, `${line}\n${JSON.stringify(signalOf(2))}\n{"done":"key-1"}\n${line.slice(0, 20)}`)
    const spool = fileSpool(path)
    assert.deepEqual(await spool.open(fail), [signalOf(2)])
    spool.add(signalOf(3))
    await spool.close()
    const again = fileSpool(path)
    assert.deepEqual(await again.open(fail), [signalOf(2), signalOf(3)])
    await again.close()
  })

  test('stays small, however many pass through it', async () => {
    const path = await newFile()
    const spool = fileSpool(path)
    await spool.open(fail)
    spool.add(signalOf(-1))
    let largest = 0
    for (let number = 0; number < 50_000; number++) {
      spool.add(signalOf(number))
      spool.remove(`key-${number}`)
      if (number % 1_000 === 0) {
        await spool.written()
        largest = Math.max(largest, (await stat(path)).size)
      }
    }
    assert.ok(largest < 2_000_000, `${largest} bytes`)
    await spool.close()
    assert.equal(await readFile(path, 'utf8'), `${JSON.stringify(signalOf(-1))}\n`)
  })

  test('that could not be written for a while has everything afterwards', async () => {
    const path = await newFile()
    const told: unknown[] = []
    const spool = fileSpool(path)
    await spool.open((error) => told.push(error))
    spool.add(signalOf(1))
    await spool.written()
    // Where the new file is to be, there is something else.
    await mkdir(`${path}.new`)
    for (let number = 0; number < 10_001; number++) {
      spool.add(signalOf(2))
      spool.remove('key-2')
    }
    spool.add(signalOf(3))
    await spool.written()
    assert.equal(told.length, 1)
    await rmdir(`${path}.new`)
    spool.add(signalOf(4))
    await spool.written()
    const lines = (await readFile(path, 'utf8')).trim().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      [signalOf(1), signalOf(3), signalOf(4)],
    )
    await spool.close()
    assert.equal(told.length, 1)
  })

  test('belongs to one process, and to the next one once that is dead', async () => {
    const path = await newFile()
    const spool = fileSpool(path)
    await spool.open(fail)
    await assert.rejects(fileSpool(path).open(fail), /in use by another queue of this process/)
    await spool.close()
    await writeFile(`${path}.lock`, `${process.ppid} x`)
    await assert.rejects(fileSpool(path).open(fail), new RegExp(`in use by process ${process.ppid}`))
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
    await once(child, 'exit')
    await writeFile(`${path}.lock`, `${child.pid} x`)
    const next = fileSpool(path)
    assert.deepEqual(await next.open(fail), [])
    await next.close()
  })

  test('that cannot be had is told, and signals are sent without it', async () => {
    const tenant = await service.tenant()
    const path = await newFile()
    await appendFile(path, '')
    const told: unknown[] = []
    const onError = (error: unknown, lost: QueuedSignal | null) => told.push([error instanceof Error, lost])
    const spool = fileSpool(join(path, 'spool.ndjson'))
    const queue = service.ledger(tenant).signals.queue({ spool, onError })
    queue.add(tenant.prompt.publicId, { value: 'positive' })
    await queue.close()
    assert.deepEqual(told, [[true, null]])
    assert.equal(await tenant.used(), 1)
  })
})
