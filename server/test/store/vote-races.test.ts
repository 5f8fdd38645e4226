import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { isCitus, onPostgres, postgres } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { lockWaiters } from '../../../testing/lock-waiters.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'
import { noDetails, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { eraseSignals, metadataQuery } from '../../src/domain/signals/erasure.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import type { SignalToRecord } from '../../src/domain/signals/signal.ts'
import { day, type Instant } from '../../src/domain/time.ts'
import { distributedStatement } from '../../src/store/postgres/distributed-record.ts'
import { recordStatement } from '../../src/store/postgres/record-statement.ts'
import { changedRows } from '../../src/store/sql/signal-changes.ts'
import { castVote } from '../../src/store/sql/vote.ts'

// SQLite has one writer at a time, so only PostgreSQL can do this.
onPostgres('While another process moves a vote to another time', () => {
  const service = useService(postgres)

  function voteAt(tenant: Tenant, occurredAt: Instant): SignalToRecord {
    return { ...signalFor(tenant), metadata: '{"user":"u"}', details: { ...noDetails, subject: 'a', occurredAt } }
  }

  /** Casts the vote, and starts to remove it after it was moved but before the move is committed. */
  async function duringMove(tenant: Tenant, from: Instant, to: Instant, remove: (id: number) => Promise<unknown>) {
    const recorded = await service.store.signals.record(voteAt(tenant, from))
    assert.ok(recorded.kind === 'recorded')
    const before = castVote(null, voteAt(tenant, from), recorded.id)
    const after = { ...before, occurredAt: to, voteId: before.voteId + 1 }
    const expected = { vote: before, isExpired: false, keptSince: 0 }
    const change = { signal: voteAt(tenant, to), expected, before, after, isCounted: false, requests: [] }
    const other = new pg.Client({ connectionString: service.url })
    await other.connect()
    onTestEnd(() => other.end())
    await other.query('begin')
    const rows = changedRows([change], Date.now())
    const [fence] = await queryRows(service.url, 'insert into batch_fences default values returning id')
    const { sql, parameters } = isCitus
      ? distributedStatement(rows)
      : recordStatement(rows, 1, Number(fence?.id), false)
    assert.equal((await other.query(sql, parameters)).rows.length, 1)
    const removal = remove(before.signalId)
    await eventually(async () => (await lockWaiters(service.url)) === 1)
    await other.query('commit')
    await removal
    await assertSumsAgree(service.url)
    const ofPrompt = `where prompt_id = ${tenant.prompt.id}`
    const [stored] = await queryRows(service.url, `select count(*) as signals from signals ${ofPrompt}`)
    return Number(stored?.signals)
  }

  test('an erasure leaves it whole', async () => {
    const tenant = await service.tenant()
    const by = { organisationId: tenant.organisation.id, keyId: null as never }
    const left = await duringMove(tenant, service.now, service.now - day, () =>
      eraseSignals(service.store.signals, by, metadataQuery('{"user":"u"}'), service.now),
    )
    assert.equal(left, 1)
  })

  test('a deletion deletes all of it', async () => {
    const tenant = await service.tenant()
    const left = await duringMove(tenant, service.now, service.now - day, (id) =>
      service.store.signals.delete(tenant.prompt, id, service.now, operator),
    )
    assert.equal(left, 0)
  })

  test('retention keeps it if its new time is kept', async () => {
    const tenant = await service.tenant()
    const later = service.now + 100 * day
    // Creates the partition of that month.
    await service.store.signals.record(voteAt(await service.tenant(), later))
    const left = await duringMove(tenant, service.now, later, () => removeOldSignals(service.store.signals, 50, later))
    assert.equal(left, 1)
  })
})
