import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { historyPageSchema } from '../../../contract/history.ts'
import { assertMatchesSchema } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { type Tenant, useService } from '../../../testing/service.ts'

const minute = 60_000

async function recordEntries(tenant: Tenant, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await tenant.recordEntry({ createdAt: i * minute })
}

onEachEngine('Prompt history', (engine) => {
  const service = useService(engine)

  test('history entries have exactly the eight documented fields, next to the pagination object', async () => {
    const tenant = await service.tenant()
    const direct = await tenant.recordEntry({ createdAt: Date.parse('2026-11-01T10:00:00.123Z') })
    const merged = await tenant.recordEntry({
      action: 'pr_merged',
      user: { name: 'Zoë "Z" O’Neil <b>', email: 'zoë@example.com' },
      commitSha: 'B'.repeat(64),
      prNumber: 12,
      prUrl: 'https://github.com/acme/prompts/pull/12',
      branchName: 'main',
      createdAt: Date.parse('2026-11-02T10:00:00Z'),
    })
    const response = await tenant.history()
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    assert.deepEqual(response.json(), {
      data: [
        {
          id: merged.id,
          action: 'pr_merged',
          user: { name: 'Zoë "Z" O’Neil <b>', email: 'zoë@example.com' },
          commit_sha: 'b'.repeat(64),
          pr_number: 12,
          pr_url: 'https://github.com/acme/prompts/pull/12',
          branch_name: 'main',
          created_at: '2026-11-02T10:00:00.000Z',
        },
        {
          id: direct.id,
          action: 'deployed',
          user: { name: 'Ada Lovelace', email: 'ada@example.com' },
          commit_sha: 'a1'.repeat(20),
          pr_number: null,
          pr_url: null,
          branch_name: 'main',
          created_at: '2026-11-01T10:00:00.123Z',
        },
      ],
      pagination: { current_page: 1, total_pages: 1, total_count: 2, per_page: 25 },
    })
    assertMatchesSchema(historyPageSchema, response)
  })

  test('a prompt without changes has an empty history with zero pages', async () => {
    const tenant = await service.tenant()
    assert.deepEqual((await tenant.history()).json(), {
      data: [],
      pagination: { current_page: 1, total_pages: 0, total_count: 0, per_page: 25 },
    })
  })

  test('a history page has 25 entries by default and at most 100, and reports its size', async () => {
    const tenant = await service.tenant()
    await recordEntries(tenant, 130)
    const sizes = [
      ['', 25],
      ['?limit=1', 1],
      ['?limit=99', 99],
      ['?limit=100', 100],
      ['?limit=101', 100],
      ['?limit=99999999999999999999', 100],
      ['?limit=007', 7],
      ['?limit=0', 25],
      ['?limit=-5', 25],
      ['?limit=2.5', 25],
      ['?limit=1e1', 25],
      ['?limit=ten', 25],
      ['?limit=', 25],
      ['?limit=%2010', 25],
      ['?limit=5&limit=7', 7],
      ['?limit=5&limit=x', 25],
    ] as const
    for (const [query, size] of sizes) {
      const { data, pagination } = (await tenant.history(query)).json()
      assert.equal(data.length, size, query)
      assert.equal(pagination.per_page, size, query)
      assert.equal(pagination.total_pages, Math.ceil(130 / size), query)
    }
  })

  test('an invalid page falls back to page 1, and the last of repeated parameters counts', async () => {
    const tenant = await service.tenant()
    await recordEntries(tenant, 3)
    for (const query of [
      'page=0',
      'page=-1',
      'page=1.5',
      'page=one',
      'page=',
      'page=2&page=x',
      'page=9&page=1',
      'page=%zz',
    ]) {
      const { data, pagination } = (await tenant.history(`?limit=2&${query}`)).json()
      assert.equal(pagination.current_page, 1, query)
      assert.equal(data.length, 2, query)
    }
    assert.equal((await tenant.history('?limit=2&page=1&page=2')).json().data.length, 1)
  })

  test('a page past the end is empty with correct totals, however large its number', async () => {
    const tenant = await service.tenant()
    await recordEntries(tenant, 3)
    for (const page of ['2', '9007199254740993', '9'.repeat(400)]) {
      const response = await tenant.history(`?page=${page}`)
      assert.equal(response.statusCode, 200)
      assert.deepEqual(response.json().data, [])
      assert.match(response.body, new RegExp(`"current_page":${page},"total_pages":1,"total_count":3,"per_page":25`))
    }
  })

  test('a new entry appears on the next request', async () => {
    const tenant = await service.tenant()
    await recordEntries(tenant, 2)
    assert.equal((await tenant.history()).json().pagination.total_count, 2)
    await tenant.recordEntry({ createdAt: 9 * minute })
    assert.equal((await tenant.history()).json().pagination.total_count, 3)
  })

  test('paging through a history yields every entry once, in sorted order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 9 }),
        async (times, limit) => {
          const tenant = await service.tenant()
          const recorded: { id: number; at: number }[] = []
          for (const [i, at] of times.entries()) {
            const { id } = await tenant.recordEntry({ createdAt: at * minute, branchName: `b${i}` })
            recorded.push({ id, at })
          }
          const expected = recorded.toSorted((a, b) => b.at - a.at || b.id - a.id).map(({ id }) => id)
          const pages = Math.ceil(times.length / limit)
          const seen: number[] = []
          for (let page = 1; page <= pages + 1; page++) {
            const { data, pagination } = (await tenant.history(`?page=${page}&limit=${limit}`)).json()
            seen.push(...data.map(({ id }: { id: number }) => id))
            assert.deepEqual(pagination, {
              current_page: page,
              total_pages: pages,
              total_count: times.length,
              per_page: limit,
            })
          }
          assert.deepEqual(seen, expected)
        },
      ),
      { numRuns: 25 },
    )
  })
})
