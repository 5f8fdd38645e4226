import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { startDistributed } from '../../../testing/distributed-cluster.ts'
import { eventually } from '../../../testing/eventually.ts'
import type { PostgresServer } from '../../../testing/postgres.ts'
import { openTestStore } from '../../../testing/service.ts'
import type { Store } from '../../src/domain/store.ts'
import {
  assertRecovered,
  organisations,
  organisationsBeside,
  p99,
  type Recorders,
  recordSignal,
  startRecorders,
  untilAllWrote,
} from './recorders.ts'

// A worker counts as down after 5 s. This leaves room for a busy machine.
const longestMs = 30_000

/** Without this, every request to a worker that hangs waits for the timeout of a statement. */
async function assertRejectedAtOnce(store: Store, organisationId: number): Promise<void> {
  const outcome = recordSignal(store, organisationId).then(
    () => 'recorded',
    (error: Error) => error.message,
  )
  const soon = await Promise.race([outcome, pause(200, 'still waiting')])
  assert.match(soon, /^The database server with the signals of this organisation does not respond/)
}

const timesOf = ({ times }: Recorders, among: number[]) =>
  among.flatMap((organisation) => times.get(organisation) ?? [])

it('a worker that hangs stops only its own organisations, for a bounded time, and loses nothing', {
  timeout: 400_000,
}, async (t) => {
  const { servers, url } = await startDistributed()
  const store = await openTestStore(url)
  const unused = await openTestStore(url)
  const victim = servers[1] as PostgresServer
  const others = await organisationsBeside(url, victim)
  const running = startRecorders(store)
  await untilAllWrote(running)
  running.clear()
  await untilAllWrote(running)
  const before = p99(timesOf(running, others))

  running.clear()
  victim.freeze()
  // Also when the test fails: nothing that uses a frozen server ends by itself.
  onTestEnd(() => victim.thaw())
  const frozenAt = performance.now()
  await eventually(() => assert.ok(running.failed.length > 20), { timeoutMs: longestMs })
  const firstFailureMs = performance.now() - frozenAt
  await untilAllWrote(running, others)
  const during = p99(timesOf(running, others))
  assert.deepEqual(
    running.failed.filter(({ organisation }) => others.includes(organisation)),
    [],
  )

  const [stopped] = organisations.filter((organisation) => !others.includes(organisation)) as [number]
  for (const each of [store, unused]) {
    await eventually(() => assertRejectedAtOnce(each, stopped), { timeoutMs: longestMs })
    assert.equal(each.queues.signals.stalledForMs(), 0, 'the service would reject the signals of all organisations')
  }

  victim.thaw()
  await assertRecovered(t, url, running)
  const slowest = Math.max(...running.failed.map(({ ms }) => ms))
  assert.ok(slowest < longestMs, `a request failed after ${slowest} ms`)
  t.diagnostic(
    `the first 20 failed after ${Math.round(firstFailureMs)} ms, ` +
      `the slowest in ${Math.round(slowest)} ms; p99 of the others ${Math.round(before)} ms before and ${Math.round(during)} ms meanwhile`,
  )
})
