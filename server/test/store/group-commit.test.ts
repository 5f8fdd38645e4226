import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupCommit } from '../../src/store/group-commit.ts'

test('calls that arrive during a commit share the next batch, and each gets its own result', async () => {
  const batches: number[][] = []
  const inFlight = Promise.withResolvers<void>()
  const committed = Promise.withResolvers<void>()
  const { submit, idle } = groupCommit(async (items: number[]) => {
    batches.push(items)
    inFlight.resolve()
    await committed.promise
    return items.map((item) => item * 2)
  })
  const first = submit(0)
  await inFlight.promise
  const others = Array.from({ length: 99 }, (_, i) => submit(i + 1))
  committed.resolve()
  assert.deepEqual(
    await Promise.all([first, ...others]),
    Array.from({ length: 100 }, (_, i) => i * 2),
  )
  await idle()
  assert.deepEqual(batches, [[0], Array.from({ length: 99 }, (_, i) => i + 1)])
})

test('a failed batch rejects only its own calls', async () => {
  const { submit } = groupCommit(async (items: string[]) => {
    if (items.includes('bad')) throw new Error('bad batch')
    return items
  })
  await assert.rejects(submit('bad'), /bad batch/)
  assert.equal(await submit('good'), 'good')
})

test('a batch takes no more calls than batchSize allows', async () => {
  const sizes: number[] = []
  const { submit } = groupCommit(
    async (items: number[]) => {
      sizes.push(items.length)
      return items
    },
    { batchSize: (waiting) => Math.ceil(waiting / 2) },
  )
  await Promise.all(Array.from({ length: 8 }, (_, i) => submit(i)))
  assert.deepEqual(sizes, [4, 2, 1, 1])
})

test('a batch of large items ends before it is too large, and takes at least one', async () => {
  const sizes: number[] = []
  const commit = async (items: number[]) => {
    sizes.push(items.length)
    return items
  }
  const megabyte = 1024 * 1024
  const { submit } = groupCommit(commit, { bytesOf: (item) => item })
  await Promise.all([3, 1, 1, 0, 2].map((megabytes) => submit(megabytes * megabyte)))
  assert.deepEqual(sizes, [1, 3, 1])
})

test('a steady trickle of calls does not keep the first one waiting until the batch is full', async () => {
  const batch = groupCommit<number, number>(async (items) => items)
  let isAnswered = false
  const first = batch.submit(0).then(() => {
    isAnswered = true
  })
  let calls = 0
  while (!isAnswered && calls < 200) {
    // Each turn of the event loop takes a while and brings one more call.
    const end = performance.now() + 0.5
    while (performance.now() < end);
    void batch.submit(++calls)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await first
  assert.ok(calls < 50, `${calls} calls came before the first was answered`)
})

test('a call that is rejected while its batch is in flight or collects does not wait for it, and later calls are committed', async () => {
  const batches: string[][] = []
  const inFlight = Promise.withResolvers<void>()
  const committed = Promise.withResolvers<void>()
  const { submit, rejectAll, idle } = groupCommit(async (items: string[]) => {
    batches.push(items)
    inFlight.resolve()
    await committed.promise
    return items
  })
  const collecting = assert.rejects(submit('collects'), /^Error: stopped$/)
  rejectAll(new Error('stopped'))
  await collecting
  await idle()
  const sent = assert.rejects(submit('in flight'), /^Error: stopped$/)
  await inFlight.promise
  const waiting = assert.rejects(submit('waits'), /^Error: stopped$/)
  rejectAll(new Error('stopped'))
  await Promise.all([sent, waiting])
  committed.resolve()
  assert.equal(await submit('later'), 'later')
  assert.deepEqual(batches, [['in flight'], ['later']])
})
