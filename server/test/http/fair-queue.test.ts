import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { eventually } from '../../../testing/eventually.ts'
import { turnCounter } from '../../../testing/turns.ts'
import {
  createFairQueue,
  createLane,
  heavyWeight,
  type Lane,
  lightWeight,
} from '../../src/http/admission/fair-queue.ts'
import { createTurnstile } from '../../src/http/admission/turnstile.ts'

describe('The fair queue', () => {
  /** Enters requests and notes when they start. */
  function start(maxRunning: number) {
    const queue = createFairQueue(maxRunning)
    const started: string[] = []
    const enter = (name: string, lane: Lane, keyId = 1, weight = lightWeight, work = () => {}) => {
      const begin = () => {
        started.push(name)
        work()
      }
      const turn = queue.enter(lane, keyId, weight)
      if (turn === undefined) begin()
      else void turn.then(begin)
    }
    return { queue, started, enter }
  }

  test('a request starts at once while its organisation has few at work', () => {
    const { started, enter } = start(3)
    const lane = createLane()
    for (const name of ['1', '2', '3', '4']) enter(name, lane)
    assert.deepEqual(started, ['1', '2', '3'])
  })

  test('the waiting requests of an organisation do not delay those of another', async () => {
    const { started, enter } = start(2)
    const [busy, quiet] = [createLane(), createLane()]
    for (let i = 0; i < 100; i++) enter(`busy ${i}`, busy)
    enter('quiet', quiet)
    assert.deepEqual(started, ['busy 0', 'busy 1', 'quiet'])
    await nextTurn()
    await nextTurn()
    assert.equal(started.length, 3, 'none may start before another one ends')
  })

  test('the keys of an organisation take turns', async () => {
    const { queue, started, enter } = start(1)
    const lane = createLane()
    for (const name of ['a1', 'a2', 'a3', 'a4']) enter(name, lane, 1)
    for (const name of ['b1', 'b2']) enter(name, lane, 2)
    for (let ended = 1; ended < 6; ended++) {
      queue.leave(lane, lightWeight)
      await eventually(() => assert.equal(started.length, ended + 1))
    }
    assert.deepEqual(started, ['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
  })

  test('organisations take turns', async () => {
    const { queue, started, enter } = start(1)
    const lanes = [createLane(), createLane()] as const
    for (let i = 0; i < 3; i++) for (const [n, lane] of lanes.entries()) enter(`${n}`, lane)
    for (let i = 0; i < 2; i++) {
      for (const lane of lanes) queue.leave(lane, lightWeight)
      await eventually(() => assert.equal(started.length, 4 + 2 * i))
    }
    assert.deepEqual(started, ['0', '1', '0', '1', '0', '1'])
  })

  test('heavy requests count as several, and one always fits', async () => {
    const { queue, started, enter } = start(2 * heavyWeight)
    const lane = createLane()
    for (const name of ['1', '2', '3']) enter(name, lane, 1, heavyWeight)
    await eventually(() => assert.deepEqual(started, ['1', '2']))
    queue.leave(lane, heavyWeight)
    await eventually(() => assert.deepEqual(started, ['1', '2', '3']))
    const narrow = start(1)
    narrow.enter('alone', createLane(), 1, heavyWeight)
    await eventually(() => assert.deepEqual(narrow.started, ['alone']))
  })

  test('connections are read between requests that block the event loop', async (t) => {
    const { queue, started, enter } = start(heavyWeight * 4)
    const lane = createLane()
    const block = () => {
      const end = performance.now() + 20
      while (performance.now() < end);
    }
    const turns = turnCounter(t)
    for (let i = 0; i < 5; i++) {
      enter(String(i), lane, 1, heavyWeight, () => {
        block()
        queue.leave(lane, heavyWeight)
      })
    }
    await eventually(() => assert.equal(started.length, 5))
    // An organisation rests for as long as its request has blocked the others.
    assert.ok(turns() > 10, `${turns()} turns of the event loop`)
  })

  test('an organisation rests for as long as all its large responses together cost, and others go on', async () => {
    const { queue, started, enter } = start(heavyWeight * 4)
    const [resting, other] = [createLane(), createLane()]
    const startedAt = performance.now()
    for (let i = 0; i < 3; i++) queue.rest(resting, 20)
    enter('resting', resting, 1, heavyWeight)
    enter('other', other, 2, heavyWeight)
    await eventually(() => assert.deepEqual(started, ['other', 'resting']), { intervalMs: 1 })
    const ms = performance.now() - startedAt
    assert.ok(ms >= 59, `it started after ${ms} ms`)
  })

  test('large pieces of work have a turn of the event loop each, and rest in between if they ask for it', async (t) => {
    const takeTurn = createTurnstile()
    const turns = turnCounter(t)
    const seen: number[] = []
    await Promise.all(Array.from({ length: 5 }, () => takeTurn().then(() => seen.push(turns()))))
    assert.equal(new Set(seen).size, 5, `turns ${seen}`)
    const startedAt = performance.now()
    await Promise.all([takeTurn(20), takeTurn(20)])
    const ms = performance.now() - startedAt
    // Timers start at the time that the loop last read, which may be a little ago.
    assert.ok(ms > 30, `two took ${ms} ms`)
  })

  test('everything that waits starts in the end, whatever the weights', async () => {
    const { queue, started, enter } = start(10)
    const lanes = [createLane(), createLane(), createLane()]
    let waiting = 0
    for (let i = 0; i < 300; i++) {
      const lane = lanes[i % 3] as Lane
      const weight = i % 7 === 0 ? heavyWeight : lightWeight
      waiting++
      enter(String(i), lane, i % 5, weight, () => {
        setImmediate(() => {
          queue.leave(lane, weight)
          waiting--
        })
      })
    }
    await eventually(() => assert.equal(waiting, 0))
    assert.equal(started.length, 300)
    for (const lane of lanes) assert.deepEqual([lane.running, lane.waiting.size], [0, 0])
  })

  const megabyte = 1024 * 1024

  test('a key that leaves 4 MB unread has to wait, and the other keys of its organisation do not', async () => {
    const { queue, started, enter } = start(heavyWeight * 4)
    const [lane, socket] = [createLane(), new Socket()]
    queue.addUnread(lane, 1, 5 * megabyte, socket)
    enter('hoarder', lane, 1, heavyWeight)
    enter('hoarder, light', lane, 1)
    enter('other', lane, 2, heavyWeight)
    enter('other, light', lane, 2)
    await eventually(() => assert.deepEqual(started, ['other', 'other, light']))
    queue.removeUnread(lane, 1, 5 * megabyte, socket)
    await eventually(() => assert.deepEqual(started.slice(2), ['hoarder', 'hoarder, light']))
  })

  test('an organisation that leaves 8 MB unread has to wait, and other organisations do not', async () => {
    const { queue, started, enter } = start(heavyWeight * 4)
    const [full, other, socket] = [createLane(), createLane(), new Socket()]
    for (const keyId of [1, 2, 3]) queue.addUnread(full, keyId, 3 * megabyte, socket)
    enter('full', full, 4, heavyWeight)
    enter('other', other, 5, heavyWeight)
    await eventually(() => assert.deepEqual(started, ['other']))
    queue.removeUnread(full, 1, 3 * megabyte, socket)
    await eventually(() => assert.deepEqual(started, ['other', 'full']))
  })

  test('once all organisations leave 32 MB unread, only those that leave little of it go on', async () => {
    const { queue, started, enter } = start(heavyWeight * 4)
    const socket = new Socket()
    const lanes = Array.from({ length: 9 }, createLane)
    for (const lane of lanes) queue.addUnread(lane, 1, 3.75 * megabyte, socket)
    const [some] = lanes as [Lane]
    const little = createLane()
    queue.addUnread(little, 1, megabyte, socket)
    enter('some', some)
    enter('little', little)
    enter('none', createLane())
    await nextTurn()
    await nextTurn()
    assert.deepEqual(started, ['little', 'none'])
    queue.removeUnread(lanes[8] as Lane, 1, 3.75 * megabyte, socket)
    await eventually(() => assert.deepEqual(started, ['little', 'none', 'some']))
  })

  test('clients have 2 s to read on as soon as a request of their organisation waits, and not before', async () => {
    const { queue, enter } = start(heavyWeight)
    const [lane, slow, later] = [createLane(), new Socket(), new Socket()]
    queue.addUnread(lane, 1, 5 * megabyte, slow)
    await nextTurn()
    assert.equal(slow.timeout, undefined)
    enter('waits', lane, 1)
    await eventually(() => assert.equal(slow.timeout, 2_000))
    // Each new request would otherwise give the slow client more time.
    slow.setTimeout(1_500)
    queue.addUnread(lane, 1, megabyte, later)
    enter('waits too', lane, 1)
    await eventually(() => assert.equal(later.timeout, 2_000))
    assert.equal(slow.timeout, 1_500)
    for (const socket of [slow, later]) socket.destroy()
  })
})
