import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { onTestEnd } from '../../testing/cleanup.ts'
import { sqlite } from '../../testing/engines.ts'
import type { QueuedSignal } from '../src/index.ts'
import { fileSpool } from '../src/spool.ts'
import { useLiveService } from './live-service.ts'
import { createSpoolPath } from './spool-path.ts'

describe('The spool file', () => {
  const service = useLiveService(sqlite)
  const signalWith = (number: number): QueuedSignal => ({
    key: `key-${number}`,
    promptId: 'pmt_x',
    signal: { value: 'positive', metadata: { number } },
  })
  const fail = (error: unknown) => assert.fail(String(error))

  test('an incomplete last line does not affect the other signals', async () => {
    const path = await createSpoolPath()
    const line = JSON.stringify(signalWith(1))
    await mkdir(dirname(path))
    await writeFile(path, `${line}\n${JSON.stringify(signalWith(2))}\n{"done":"key-1"}\n${line.slice(0, 20)}`)
    const spool = fileSpool(path)
    assert.deepEqual(await spool.open(fail), [signalWith(2)])
    spool.add(signalWith(3))
    await spool.close()
    const reopened = fileSpool(path)
    assert.deepEqual(await reopened.open(fail), [signalWith(2), signalWith(3)])
    await reopened.close()
  })

  test('the file stays small, however many signals pass through it', async () => {
    const path = await createSpoolPath()
    const spool = fileSpool(path)
    await spool.open(fail)
    spool.add(signalWith(-1))
    let maxBytes = 0
    for (let number = 0; number < 50_000; number++) {
      spool.add(signalWith(number))
      spool.remove(`key-${number}`)
      if (number % 1_000 === 0) {
        await spool.flush()
        maxBytes = Math.max(maxBytes, (await stat(path)).size)
      }
    }
    assert.ok(maxBytes < 2_000_000, `${maxBytes} bytes`)
    await spool.close()
    assert.equal(await readFile(path, 'utf8'), `${JSON.stringify(signalWith(-1))}\n`)
  })

  test('only the owner can read the file, whatever was there before', async () => {
    const path = await createSpoolPath()
    await mkdir(dirname(path))
    await writeFile(path, '', { mode: 0o644 })
    await writeFile(`${path}.new`, 'left behind by a crash', { mode: 0o644 })
    const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8)
    const spool = fileSpool(path)
    await spool.open(fail)
    assert.deepEqual([await modeOf(path), await modeOf(`${path}.lock`)], ['600', '600'])
    spool.add(signalWith(1))
    await spool.flush()
    assert.equal(await modeOf(path), '600')
    await spool.close()
    assert.equal(await modeOf(path), '600')
  })

  test('after a failed write, the next write stores every signal', async () => {
    const path = await createSpoolPath()
    const errors: unknown[] = []
    const spool = fileSpool(path)
    await spool.open((error) => errors.push(error))
    spool.add(signalWith(1))
    await spool.flush()
    // A folder in place of the new file makes the rewrite fail.
    await mkdir(`${path}.new`)
    for (let number = 0; number < 10_001; number++) {
      spool.add(signalWith(2))
      spool.remove('key-2')
    }
    spool.add(signalWith(3))
    await spool.flush()
    assert.equal(errors.length, 1)
    await rmdir(`${path}.new`)
    spool.add(signalWith(4))
    await spool.flush()
    const lines = (await readFile(path, 'utf8')).trim().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      [signalWith(1), signalWith(3), signalWith(4)],
    )
    await spool.close()
    assert.equal(errors.length, 1)
  })

  test('the file belongs to one process until that process ends', async () => {
    const path = await createSpoolPath()
    const spool = fileSpool(path)
    await spool.open(fail)
    await assert.rejects(fileSpool(path).open(fail), /in use by another queue of this process/)
    await spool.close()
    await writeFile(`${path}.lock`, `${process.ppid} x`)
    await assert.rejects(fileSpool(path).open(fail), new RegExp(`in use by process ${process.ppid}`))
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
    onTestEnd(() => child.kill('SIGKILL'))
    await once(child, 'exit')
    await writeFile(`${path}.lock`, `${child.pid} x`)
    const next = fileSpool(path)
    assert.deepEqual(await next.open(fail), [])
    await next.close()
  })

  test('a spool that cannot be opened is reported, and signals are sent without it', async () => {
    const tenant = await service.tenant()
    const path = await createSpoolPath()
    // A file in place of the folder.
    await writeFile(dirname(path), '')
    const errors: unknown[] = []
    const onError = (error: unknown, dropped: QueuedSignal | null) => errors.push([error instanceof Error, dropped])
    const queue = service.queue(tenant, { spool: fileSpool(path), onError })
    queue.add(tenant.prompt.publicId, { value: 'positive' })
    await queue.close()
    assert.deepEqual(errors, [[true, null]])
    assert.equal(await tenant.used(), 1)
  })
})
