import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Account, createAccounts } from '../../../testing/account.ts'
import { runSql } from '../../../testing/citus.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { startDistributed } from '../../../testing/distributed-cluster.ts'
import { eventually } from '../../../testing/eventually.ts'
import type { PostgresServer } from '../../../testing/postgres.ts'
import { serve } from '../../../testing/processes.ts'
import { type OpenLoop, type Response, startOpenLoop } from './open-loop.ts'
import { assertNothingLost, organisations, organisationsBeside, quantile } from './recorders.ts'

// Enough to fill the room for writes before the worker counts as down.
const stoppedPerSecond = 500
const othersPerSecond = 40
const measuredMs = 12_000
// A request that waits for the worker takes 5 s. This leaves room for a busy machine.
const waitedMs = 2_500
const longestMs = 8_000
const isRejected = ({ status }: Response) => status === 500
const timeOf = (responses: Response[], share = 0.99) =>
  quantile(
    responses.map(({ ms }) => ms),
    share,
  )
const milliseconds = (ms: number) => `${Math.round(ms)} ms`

/** Waits until every organisation of these accounts has recorded a signal since the last `clear`. */
function untilAllRecorded({ responses }: OpenLoop, accounts: Account[]): Promise<boolean> {
  const recorded = () => new Set(responses.filter(({ status }) => status === 201).map((each) => each.organisationId))
  return eventually(() => recorded().size === accounts.length, { timeoutMs: 60_000 })
}

it('a worker that is killed, frozen or without its standby under load rejects its own signals at once and no others, and loses nothing', {
  timeout: 400_000,
}, async (t) => {
  // As documented: connections of the cluster and of the service are encrypted, so a new one is slow.
  const { servers, url: unencrypted } = await startDistributed(8, ['-c', 'citus.node_conninfo=sslmode=require'])
  const url = `${unencrypted}?sslmode=no-verify`
  const victim = servers[1] as PostgresServer
  const accounts = await createAccounts(url, 'business', organisations.length)
  const beside = new Set(await organisationsBeside(url, victim))
  const [served, stopped] = [true, false].map((isBeside) =>
    accounts.filter(({ organisationId }) => beside.has(organisationId) === isBeside),
  ) as [Account[], Account[]]
  const service = await serve(url, { LOG_LEVEL: 'silent' })
  const others = startOpenLoop(service.port, served, othersPerSecond)
  const own = startOpenLoop(service.port, stopped, stoppedPerSecond)
  await untilAllRecorded(others, served)
  await untilAllRecorded(own, stopped)

  await measure('killed', () => victim.halt('SIGKILL'), victim.resume)
  // Also when the test fails: nothing that uses a frozen server ends by itself.
  onTestEnd(() => victim.thaw())
  await measure('frozen', victim.freeze, victim.thaw)

  const awaitStandby = (names: string) =>
    runSql(victim.url, [`alter system set synchronous_standby_names = '${names}'`, 'select pg_reload_conf()'])
  await measure(
    'without its synchronous standby',
    () => awaitStandby('missing'),
    () => awaitStandby(''),
  )

  await Promise.all([others.stop(), own.stop()])
  await assertNothingLost(url, new Map([...others.acknowledged, ...own.acknowledged]))
  t.diagnostic(`${others.acknowledged.size + own.acknowledged.size} acknowledged`)

  async function measure(how: string, stop: () => unknown, start: () => unknown): Promise<void> {
    others.clear()
    await pause(measuredMs)
    const before = timeOf(others.responses)

    own.clear()
    others.clear()
    await stop()
    const stoppedAt = performance.now()
    await eventually(() => own.responses.some(isRejected), { timeoutMs: 60_000 })
    const knownAt = performance.now()
    await pause(measuredMs)
    const during = [...others.responses]
    const rejected = own.responses.filter(isRejected)
    const later = own.responses.filter(({ sentAt }) => sentAt > knownAt)
    const slowest = Math.max(own.oldestMs(), ...rejected.map(({ ms }) => ms))

    own.clear()
    await start()
    const startedAt = performance.now()
    await untilAllRecorded(own, stopped)
    t.diagnostic(
      `${how}: of the others ${during.filter(isRejected).length} of ${during.length} signals rejected, p99 ${milliseconds(before)} before and ` +
        `${milliseconds(timeOf(during))} meanwhile; of the worker the first rejected ${milliseconds(knownAt - stoppedAt)} later, ` +
        `the slowest in ${milliseconds(slowest)}, ${later.length} later ones in ${milliseconds(timeOf(later, 0.5))} (p50) and ${milliseconds(timeOf(later))} (p99); ` +
        `all organisations recorded again ${milliseconds(performance.now() - startedAt)} after it was back`,
    )
    assert.deepEqual(during.filter(isRejected), [])
    assert.ok(Math.max(others.oldestMs(), timeOf(during)) < waitedMs, 'signals of the others wait for the worker')
    assert.ok(slowest < longestMs, 'signals of the worker wait behind others that wait for it')
    assert.ok(later.every(isRejected), 'a signal was recorded by a worker that is down')
    assert.ok(timeOf(later) < waitedMs, 'new signals wait for the worker')
  }
})
