import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runSql } from '../../../testing/citus.ts'
import { startDistributed } from '../../../testing/distributed-cluster.ts'
import { eventually } from '../../../testing/eventually.ts'
import type { PostgresServer } from '../../../testing/postgres.ts'
import { openTestStore } from '../../../testing/service.ts'
import { assertRecovered, organisationsBeside, startRecorders, untilAllWrote } from './recorders.ts'

it('a worker that is lost is replaced by its standby while others go on, and nothing that was acknowledged is lost', async (t) => {
  const { servers, url } = await startDistributed()
  const victim = servers[1] as PostgresServer
  const standby = await victim.startStandby()
  // From here on, the worker confirms a commit after the standby has it too.
  await runSql(victim.url, [`alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()'])
  await eventually(async () => {
    const [follower] = await runSql(victim.url, ['select sync_state from pg_stat_replication'])
    assert.equal(follower?.sync_state, 'sync')
  })
  const store = await openTestStore(url)
  const others = await organisationsBeside(url, victim)
  const running = startRecorders(store)
  await untilAllWrote(running)

  await victim.halt('SIGKILL')
  await runSql(standby.url, [
    'select pg_promote()',
    `alter system reset synchronous_standby_names`,
    'select pg_reload_conf()',
  ])
  const [before, after] = [new URL(victim.url), new URL(standby.url)]
  await runSql(url, [
    `select citus_update_node(nodeid, '${after.hostname}', ${after.port}) from pg_dist_node where nodeport = ${before.port}`,
  ])
  await assertRecovered(t, url, running)
  assert.deepEqual(
    running.failed.filter(({ organisation }) => others.includes(organisation)),
    [],
  )
})
