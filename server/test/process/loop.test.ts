import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import pino from 'pino'
import { hour } from '../../src/domain/time.ts'
import { startLoop } from '../../src/service/loop.ts'

const log = pino({ level: 'silent' })

test('a loop that is stopped while a task fails ends at once, however long it would rest', async () => {
  const started = new EventTarget()
  const failing = Promise.withResolvers<void>()
  const run = () => {
    started.dispatchEvent(new Event('run'))
    return failing.promise
  }
  const running = once(started, 'run')
  const loop = startLoop({ tasks: [{ run }], firstRestMs: 0, restMs: hour, log, failure: 'failed' })
  await running
  const stopped = loop.stop()
  failing.reject(new Error('no connection'))
  await stopped
})

test('a task that fails is not run again before the rest is over, unless the loop is woken', async () => {
  let runs = 0
  const ran = new EventTarget()
  const run = async () => {
    runs++
    ran.dispatchEvent(new Event('run'))
    throw new Error('failed')
  }
  const first = once(ran, 'run')
  const loop = startLoop({ tasks: [{ run }], firstRestMs: 0, restMs: hour, log, failure: 'failed' })
  await first
  // Several turns of the event loop, in which it would run again.
  for (let i = 0; i < 10; i++) await new Promise(setImmediate)
  assert.equal(runs, 1)
  const second = once(ran, 'run')
  loop.wake()
  await second
  await loop.stop()
  assert.equal(runs, 2)
})
