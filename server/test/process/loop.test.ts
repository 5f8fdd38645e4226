import assert from 'node:assert/strict'
import { test } from 'node:test'
import pino from 'pino'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type LoopOptions, startLoop } from '../../src/service/loop.ts'

const never = 3_600_000

/** A loop that only rests before its first round and after that runs when it is woken. */
function openLoop(tasks: LoopOptions['tasks'], logged: string[] = []) {
  const log = pino({ level: 'warn' }, { write: (line: string) => logged.push(JSON.parse(line).msg) })
  const loop = startLoop({ tasks, restMs: never, firstRestMs: 0, log, failure: 'it failed' })
  onTestEnd(() => loop.stop())
  return loop
}

test('a loop that is woken during a round runs another one', async () => {
  let rounds = 0
  const first = Promise.withResolvers<void>()
  const loop = openLoop([{ run: () => (++rounds === 1 ? first.promise : Promise.resolve()) }])
  await eventually(() => assert.equal(rounds, 1))
  loop.wake()
  first.resolve()
  await eventually(() => assert.equal(rounds, 2))
})

test('a task that asks for more runs again at once, and others keep their interval', async () => {
  const runs = { more: 0, hourly: 0 }
  openLoop([
    { everyMs: never, run: async () => (++runs.more < 3 ? 'again' : undefined) },
    { everyMs: never, run: async () => ++runs.hourly },
  ])
  await eventually(() => assert.deepEqual(runs, { more: 3, hourly: 1 }))
})

test('a failed task is logged, and it and the tasks after it run in the next round', async () => {
  const logged: string[] = []
  let attempts = 0
  let later = 0
  const failOnce = async () => {
    if (++attempts === 1) throw new Error('no database')
  }
  const loop = openLoop([{ run: failOnce }, { run: async () => ++later }], logged)
  await eventually(() => assert.deepEqual([logged, later], [['it failed'], 0]))
  loop.wake()
  await eventually(() => assert.deepEqual([attempts, later], [2, 1]))
})

test('stopping waits for the round in progress, tells long work to end, and starts no other', async () => {
  let rounds = 0
  let ended = false
  const loop = openLoop([
    {
      async run(isStopped) {
        rounds++
        await eventually(() => assert.ok(isStopped()))
        ended = true
      },
    },
  ])
  await eventually(() => assert.equal(rounds, 1))
  loop.wake()
  await loop.stop()
  assert.deepEqual([rounds, ended], [1, true])
})

test('a loop that is stopped while a task fails ends at once, however long it would rest', async () => {
  let rounds = 0
  const failing = Promise.withResolvers<void>()
  const loop = openLoop([
    {
      run() {
        rounds++
        return failing.promise
      },
    },
  ])
  await eventually(() => assert.equal(rounds, 1))
  const stopped = loop.stop()
  failing.reject(new Error('no connection'))
  await stopped
})
