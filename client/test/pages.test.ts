import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sqlite } from '../../testing/engines.ts'
import type { Tenant } from '../../testing/service.ts'
import { NotFoundError } from '../src/index.ts'
import { useLiveService } from './live-service.ts'

describe('Pagination', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service

  async function tenantWith(entries: number): Promise<Tenant> {
    const tenant = await service.tenant()
    await addEntries(tenant, 0, entries)
    return tenant
  }

  /** Newer than all earlier entries, and so on the first page. */
  async function addEntries(tenant: Tenant, from: number, count: number): Promise<void> {
    for (let number = from; number < from + count; number++) {
      await tenant.recordEntry({ createdAt: service.now + number, branchName: `b${number}` })
    }
  }

  const branches = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => `b${from - index}`)

  test('awaiting a list returns one page and the total count', async () => {
    const tenant = await tenantWith(60)
    const ledger = service.ledger(tenant)
    const first = await ledger.history.list(tenant.prompt.publicId)
    assert.deepEqual(
      first.data.map(({ branch_name }) => branch_name),
      branches(59, 35),
    )
    assert.deepEqual(first.pagination, { current_page: 1, total_pages: 3, total_count: 60, per_page: 25 })
    const last = await ledger.history.list(tenant.prompt.publicId, { page: 6, limit: 11 })
    assert.deepEqual(
      last.data.map(({ branch_name }) => branch_name),
      branches(4, 0),
    )
    assert.equal(proxy.requests.length, 2)
  })

  test('iterating over a list returns every item in order', async () => {
    const tenant = await tenantWith(205)
    const ledger = service.ledger(tenant)
    const all: string[] = []
    for await (const { branch_name } of ledger.history.list(tenant.prompt.publicId)) all.push(branch_name)
    assert.deepEqual(all, branches(204, 0))
    // Pages of 100, the largest that the API serves.
    assert.equal(proxy.requests.length, 3)
    const some: string[] = []
    for await (const { branch_name } of ledger.history.list(tenant.prompt.publicId, { page: 3, limit: 90 })) {
      some.push(branch_name)
    }
    assert.deepEqual(some, branches(24, 0))
    const rest: string[] = []
    for await (const { branch_name } of ledger.history.list(tenant.prompt.publicId, { page: 8 })) rest.push(branch_name)
    assert.deepEqual(rest, branches(29, 0))
  })

  test('iterating over an empty list returns no items', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    for await (const _ of ledger.history.list(tenant.prompt.publicId)) assert.fail()
    for await (const _ of ledger.impact.list(tenant.prompt.publicId)) assert.fail()
    assert.equal(proxy.requests.length, 2)
  })

  test('a list sends no request before it is awaited, and one request for any number of awaits', async () => {
    const tenant = await tenantWith(30)
    const ledger = service.ledger(tenant)
    const pages = ledger.history.list(tenant.prompt.publicId, { limit: 10 })
    // A list request would have been sent before this one.
    await ledger.usage.get()
    assert.equal(proxy.requests.length, 1)
    assert.strictEqual(await pages, await pages)
    await Promise.all([pages, pages.finally(() => {})])
    assert.equal(proxy.requests.length, 2)
    for await (const { branch_name } of pages) if (branch_name === 'b15') break
    assert.equal(proxy.requests.length, 4)
  })

  test('items added during an iteration do not make it repeat any', async () => {
    const tenant = await tenantWith(50)
    const ledger = service.ledger(tenant)
    const seen: string[] = []
    for await (const { branch_name } of ledger.history.list(tenant.prompt.publicId, { limit: 10 })) {
      seen.push(branch_name)
      if (seen.length === 5) await addEntries(tenant, 50, 3)
      if (seen.length === 25) await addEntries(tenant, 53, 25)
    }
    assert.deepEqual(seen, branches(49, 0))
  })

  test('iterating over the impact returns each change once, although impacts have no ID of their own', async () => {
    const tenant = await tenantWith(25)
    const ledger = service.ledger(tenant)
    const seen: string[] = []
    for await (const { entry } of ledger.impact.list(tenant.prompt.publicId, { limit: 10 }))
      seen.push(entry.branch_name)
    assert.deepEqual(seen, branches(24, 0))
  })

  test('a failed request rejects the await and the iteration', async () => {
    const tenant = await tenantWith(30)
    const ledger = service.ledger(tenant, { maxRetries: 0 })
    await assert.rejects(ledger.history.list('pmt_none'), NotFoundError)
    assert.equal(await ledger.history.list('pmt_none').catch(() => 'caught'), 'caught')
    await assert.rejects(async () => {
      for await (const _ of ledger.history.list('pmt_none'));
    }, NotFoundError)
    proxy.reset()
    proxy.first({ do: 'pass' }, { do: 'cut' })
    const seen: string[] = []
    await assert.rejects(
      async () => {
        for await (const entry of ledger.history.list(tenant.prompt.publicId, { limit: 20 }))
          seen.push(entry.branch_name)
      },
      { name: 'ConnectionError' },
    )
    assert.equal(seen.length, 20)
  })
})
