import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../../testing/eventually.ts'
import { groupCommitByWorker } from '../../src/store/postgres/worker-queues.ts'

const stallTimeoutMs = 5_000
const isUnavailable = /The database server with the signals of this organisation does not respond/

test('a worker that does not respond rejects its signals at once until a probe succeeds, and the other worker goes on', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent: number[] = []
  const down: string[] = []
  const batch = Promise.withResolvers<never>()
  const probe = Promise.withResolvers<void>()
  let probes = 0
  // Odd organisations are on worker 1, even ones on worker 2.
  const workerOf = (organisationId: number) => 2 - (organisationId % 2)
  const queues = groupCommitByWorker(
    {
      find: async (organisationId) => workerOf(organisationId),
      known: workerOf,
      probe() {
        probes++
        return probe.promise
      },
    },
    async (items: { organisationId: number }[]) => {
      const ids = items.map(({ organisationId }) => organisationId)
      sent.push(...ids)
      return ids.includes(1) ? batch.promise : ids
    },
    ({ message }) => down.push(message),
    {},
  )
  const submit = (organisationId: number) => queues.submit({ organisationId })

  const inFlight = assert.rejects(submit(1), isUnavailable)
  await eventually(() => sent.length === 1)
  const waiting = assert.rejects(submit(3), isUnavailable)
  await eventually(() => queues.waiting() === 1)
  t.mock.timers.tick(stallTimeoutMs)
  await Promise.all([inFlight, waiting])
  assert.deepEqual(down, ['Worker 1 of the cluster has not recorded a signal for 5 s'])
  assert.deepEqual([1, 2].map(queues.serverStalledForMs), [Number.POSITIVE_INFINITY, 0])
  assert.equal(await submit(2), 2)

  batch.reject(new Error('statement timeout'))
  await eventually(() => probes === 1)
  await assert.rejects(submit(3), isUnavailable)
  probe.resolve()
  await eventually(() => queues.serverStalledForMs(3) === 0)
  assert.equal(await submit(3), 3)
  assert.deepEqual(sent, [1, 2, 3])
})
