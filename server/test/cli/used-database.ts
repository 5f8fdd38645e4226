import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type Engine, isCitus } from '../../../testing/engines.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, TestService } from '../../../testing/service.ts'
import { inBatches, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { createVault } from '../../src/domain/repositories/vault.ts'
import { eraseSignals, metadataQuery } from '../../src/domain/signals/erasure.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import type { SignalValue } from '../../src/domain/signals/signal.ts'
import { day, hourStart } from '../../src/domain/time.ts'
import { connectRepository } from '../../src/follow/connect.ts'
import { syncWithLease } from '../../src/follow/worker.ts'
import { allocator } from '../../src/service/allocator.ts'
import { moveAllRecent } from '../../src/store/postgres/recent-sums.ts'

export interface Used {
  engine: Engine
  service: TestService
  env: NodeJS.ProcessEnv
  organisation: number
  prompt: number
  publicId: string
  /** The start of an hour that has signals. */
  hour: number
}

/** Casts votes on a subject. Each replaces the one before. */
async function voteOn(
  tenant: Tenant,
  subject: string,
  values: (SignalValue | null)[],
  occurredAt: number | null = null,
): Promise<void> {
  const details = { version: 'abcdef1', subject, voter: null, comment: null, occurredAt, traceId: null }
  for (const value of values) {
    const outcome = await tenant.service.store.signals.record({ ...signalFor(tenant), value, details })
    assert.ok(['recorded', 'replaced'].includes(outcome.kind), outcome.kind)
  }
}

/** A database on which every kind of operation was performed, and its settings. */
export async function usedDatabase(engine: Engine, git: GitRepository): Promise<Used> {
  const service = new TestService()
  // The current time, because the doctor checks the clock.
  service.now = Date.now()
  await service.open(engine)
  const { store, url } = service
  const key = randomBytes(32)
  service.syncContext = { ...service.syncContext, vault: createVault(key) }
  const tenant = await service.tenant('team', 'admin')
  const other = await service.tenant()
  for (const [i, value] of ['positive', 'negative', 'positive', 'positive'].entries()) {
    const metadata = { user: `u-${i % 2}` }
    for (const client of [tenant, other]) {
      const response = await client.signal({ value, metadata }, { 'idempotency-key': `k-${i}` })
      assert.equal(response.statusCode, 201)
      if (i === 3) await store.signals.delete(client.prompt, response.json().data.id, service.now, operator)
    }
  }
  const ofTenant = { organisationId: tenant.organisation.id, promptId: tenant.prompt.id, metadata: null }
  const ages = [0, 1, 20, 40, 70, 100, 400].flatMap((days) => [days * day, days * day])
  const old = ages.map((age) => ({ ...ofTenant, value: 'negative' as const, createdAt: service.now - age }))
  await store.signals.import(inBatches(old))
  await voteOn(other, 'kept', ['positive', 'negative'])
  await voteOn(other, 'withdrawn', ['positive', null])
  await voteOn(other, 'late', ['negative'], service.now - 25 * day)
  const { id: keyId } = (await store.keys.list(tenant.organisation.id))[0] as { id: number }
  const access = { organisationId: tenant.organisation.id, keyId }
  assert.equal(await eraseSignals(store.signals, access, metadataQuery('{"user":"u-1"}'), service.now), 1)
  await removeOldSignals(store.signals, 60, service.now)
  // Out of order, so that the entries are renumbered.
  for (const age of [3, 1, 2])
    await tenant.recordEntry({ createdAt: service.now - age * day, commitSha: `${age}`.repeat(40) })
  const connection = {
    forge: 'github',
    url: git.remote,
    path: '*.md',
    similarity: 100,
    token: null,
    secret: null,
  } as const
  const { lease } = await connectRepository(
    service.syncContext,
    { ...connection, organisationId: other.organisation.id },
    operator,
  )
  await syncWithLease(service.syncContext, lease)
  await store.prompts.delete(other.prompt, service.now, operator)
  // Tests change the sums that all processes share, which a later move would add to.
  if (engine.name === 'PostgreSQL' && !isCitus) for (const sql of moveAllRecent) await queryRows(url, sql)
  return {
    engine,
    service,
    env: {
      ...allocator,
      DATABASE_URL: url,
      DATA_DIR: service.syncContext.dataDir,
      PROMPTLEDGER_SECRET_KEY: key.toString('hex'),
    },
    organisation: tenant.organisation.id,
    prompt: tenant.prompt.id,
    publicId: tenant.prompt.publicId,
    hour: hourStart(service.now),
  }
}
