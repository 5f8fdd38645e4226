import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSyncQueue, type SyncQueue } from '../../src/follow/sync-queue.ts'

/** Adds repositories named 10 × organisation + number. */
function add(queue: SyncQueue, organisationId: number, ...numbers: number[]): void {
  for (const number of numbers) queue.add({ id: 10 * organisationId + number, organisationId })
}

function takeAll(queue: SyncQueue): number[] {
  const taken: number[] = []
  for (let next = queue.take(); next !== null; next = queue.take()) taken.push(next.id)
  return taken
}

describe('The queue of syncs', () => {
  test('one organisation never occupies more than half of the slots', () => {
    const queue = createSyncQueue(4)
    add(queue, 1, 0, 1, 2, 3, 4)
    assert.deepEqual(takeAll(queue), [10, 11])
    add(queue, 2, 0)
    assert.deepEqual(takeAll(queue), [20])
    queue.finish({ id: 10, organisationId: 1 })
    assert.deepEqual(takeAll(queue), [12])
  })

  test('organisations take turns, however many repositories one of them has waiting', () => {
    const queue = createSyncQueue(1)
    add(queue, 1, 0, 1, 2)
    add(queue, 2, 0)
    add(queue, 3, 0)
    const order: number[] = []
    for (let next = queue.take(); next !== null; next = queue.take()) {
      order.push(next.id)
      queue.finish(next)
    }
    assert.deepEqual(order, [10, 20, 30, 11, 12])
  })

  test('of many organisations whose git servers hang, those beyond half of the slots make room for another', () => {
    let now = 0
    const queue = createSyncQueue(4, () => now)
    for (let organisation = 1; organisation <= 20; organisation++) add(queue, organisation, 0)
    assert.deepEqual(takeAll(queue), [10, 20, 30, 40])
    add(queue, 99, 0)
    assert.deepEqual(queue.inTheWay(), [])
    const interrupt = () => {
      for (const id of queue.inTheWay()) {
        queue.finish({ id, organisationId: id / 10 })
        queue.add({ id, organisationId: id / 10 })
      }
    }
    // Once each.
    for (let round = 0; round < 9; round++) {
      now += 31_000
      if (round === 0) assert.deepEqual(queue.inTheWay(), [30, 40])
      interrupt()
      takeAll(queue)
      assert.equal(queue.isRunning(990), round === 8)
    }
    now += 1_000
    for (let round = 0; round < 3; round++) {
      queue.finish({ id: 990, organisationId: 99 })
      add(queue, 99, 0)
      assert.deepEqual(takeAll(queue), [990], 'the others share two slots')
      now += 1_000
    }
  })

  test('a repository that is woken while it is being synced waits for one more sync', () => {
    const queue = createSyncQueue(4)
    add(queue, 1, 0)
    assert.deepEqual(takeAll(queue), [10])
    add(queue, 1, 0, 0)
    assert.deepEqual(takeAll(queue), [])
    queue.finish({ id: 10, organisationId: 1 })
    assert.deepEqual(takeAll(queue), [10])
    queue.finish({ id: 10, organisationId: 1 })
    assert.deepEqual(takeAll(queue), [])
  })
})
