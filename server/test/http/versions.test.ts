import assert from 'node:assert/strict'
import { test } from 'node:test'
import { versionPageSchema } from '../../../contract/versions.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newDeployment } from '../../src/domain/deployments/deployment.ts'
import type { HistoryEntry } from '../../src/domain/history/entry.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'
import { day, hour, isoTime } from '../../src/domain/time.ts'

interface VersionBody {
  entry: { id: number }
  live: { share: number; environment: string | null } | null
  live_from: string
  live_until: string | null
  live_windows: object[]
}

onOneEngine('The versions of a prompt', (engine) => {
  const service = useService(engine)
  const shaOf = (i: number) => i.toString(16).padStart(40, 'abc')

  const get = ({ path, headers }: Tenant, query = '') =>
    service.app.inject({ url: `${path}/versions${query}`, headers })

  async function versions(tenant: Tenant, query = '') {
    const response = await get(tenant, query)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(versionPageSchema, response)
    const { data, pagination, complete } = response.json()
    return { data: data as VersionBody[], ids: data.map(({ entry }: VersionBody) => entry.id), pagination, complete }
  }

  async function deploy(tenant: Tenant, { commitSha }: HistoryEntry, at: number, share = 1) {
    const deployment = newDeployment({ environment: 'production', commitSha, state: 'success', share, at }, service.now)
    await service.store.deployments.record(
      { prompt: tenant.prompt, repository: null },
      deployment,
      service.now,
      operator,
    )
  }

  test('the changes that went live are listed newest first, with what is live now, where, and since when', async () => {
    const tenant = await service.tenant()
    const at = (days: number) => service.now - 10 * day + days * day
    const record = (days: number) => tenant.recordEntry({ createdAt: at(days), commitSha: shaOf(days) })
    const [first, second, third] = [await record(0), await record(1), await record(2)]
    const pull = { prNumber: 7, prUrl: 'https://example.com/7' }
    await tenant.recordEntry({ createdAt: at(3), action: 'pr_opened', ...pull })
    await tenant.recordEntry({ createdAt: at(4), action: 'pr_closed', ...pull })
    const merged = await versions(tenant)
    assert.deepEqual(merged.ids, [third.id, second.id, first.id])
    assert.deepEqual(
      merged.data.map(({ live, live_until }) => [live, live_until]),
      [
        [{ share: 1, environment: null }, null],
        [null, isoTime(at(2))],
        [null, isoTime(at(1))],
      ],
    )
    // From here on, deployments decide: the first is live again, and the third as a canary beside it.
    await deploy(tenant, first, at(5))
    await deploy(tenant, third, at(6), 0.25)
    const deployed = await versions(tenant)
    assert.deepEqual(deployed.ids, [third.id, second.id, first.id])
    assert.deepEqual(
      deployed.data.map(({ live }) => live),
      [{ share: 0.25, environment: 'production' }, null, { share: 0.75, environment: 'production' }],
    )
    assert.deepEqual(
      deployed.data.map(({ live_windows }) => live_windows.length),
      [2, 1, 3],
    )
    const page = await versions(tenant, '?limit=1&page=2')
    assert.deepEqual([page.ids, page.pagination.total_count], [[second.id], 3])
  })

  test('q finds versions by message, author, commit and pull request, and every word has to match', async () => {
    const tenant = await service.tenant()
    const at = service.now - day
    const ada = await tenant.recordEntry({
      createdAt: at,
      commitSha: shaOf(1),
      user: { name: 'Ada Łuk', email: 'a@x.io' },
    })
    const involved = { action: 'pr_merged', prNumber: 42, prUrl: 'https://example.com/42' } as const
    const grace = await tenant.recordEntry({
      createdAt: at + hour,
      commitSha: `fedc${shaOf(2).slice(4)}`,
      user: { name: 'Grace', email: 'grace@x.io' },
      ...involved,
    })
    for (const [q, ids] of [
      ['', [grace.id, ada.id]],
      ['ADA', [ada.id]],
      ['łuk', [ada.id]],
      ['ŁUK', [ada.id]],
      ['x.io', [grace.id, ada.id]],
      ['#42', [grace.id]],
      ['#4', []],
      ['42', []],
      ['fedc', [grace.id]],
      ['FEDC grace', [grace.id]],
      ['grace ada', []],
      [' %_ ', []],
      ["' or 1=1 --", []],
    ] as const) {
      const found = await versions(tenant, `?q=${encodeURIComponent(q)}`)
      assert.deepEqual([q, found.ids, found.pagination.total_count, found.complete], [q, ids, ids.length, true])
    }
    assertError(await get(tenant, `?q=${'x'.repeat(201)}`), 422, 'validation_error', /^q must have at most 200/)
  })

  test('the newest 5,000 versions are searched, and the response says if there are more', async () => {
    const tenant = await service.tenant()
    async function* batches() {
      for (let at = 0; at < 5_010; at += 1_002)
        yield Array.from({ length: 1_002 }, (_, i) =>
          newHistoryEntry({
            action: 'deployed',
            user: { name: `(${at + i})`, email: 'a@x.io' },
            commitSha: shaOf(at + i),
            prNumber: null,
            prUrl: null,
            branchName: 'main',
            createdAt: service.now - day + at + i,
          }),
        )
    }
    await service.store.history.import(tenant.prompt, batches(), service.now, operator)
    const found = async (author: number) => (await versions(tenant, `?q=(${author})`)).ids.length
    assert.deepEqual([await found(5_009), await found(10), await found(9)], [1, 1, 0])
    assert.equal((await versions(tenant, '?q=nothing')).complete, false)
    const last = await versions(tenant, '?limit=10&page=501')
    assert.deepEqual([last.ids.length, last.pagination.total_count, last.complete], [10, 5_010, true])
  })
})
