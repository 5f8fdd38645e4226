import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimelineEntryBody } from '../../../contract/impact.ts'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { inBatches, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { type HistoryEntry, newHistoryEntry } from '../../src/domain/history/entry.ts'
import type { SignalValue } from '../../src/domain/signals/signal.ts'

const hour = 3_600_000

onOneEngine('The export of the timeline', (engine) => {
  const service = useService(engine)

  function get(tenant: Tenant, path: string) {
    return service.app.inject({ url: `${tenant.path}/timeline${path}`, headers: tenant.headers })
  }

  async function exported(tenant: Tenant, query = ''): Promise<TimelineEntryBody[]> {
    const { statusCode, body, headers } = await get(tenant, `/export${query}`)
    assert.equal(statusCode, 200, body)
    assert.equal(headers['content-type'], 'application/x-ndjson; charset=utf-8')
    return body
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }

  /** The cells of each line. */
  async function csv(tenant: Tenant, query = ''): Promise<Record<string, string>[]> {
    const { body, headers } = await get(tenant, `/export?format=csv${query}`)
    assert.equal(headers['content-type'], 'text/csv; charset=utf-8')
    const [names = [], ...lines] = parseCsv(body)
    return lines.map((cells) => {
      assert.equal(cells.length, names.length)
      return Object.fromEntries(names.map((name, i) => [name, cells[i] as string]))
    })
  }

  async function vote(tenant: Tenant, at: number, positive: number, negative: number): Promise<void> {
    const signals = (value: SignalValue, count: number) =>
      Array.from({ length: count }, (_, i) => signalFor(tenant, { createdAt: at + i, value }))
    await service.store.signals.import(inBatches([...signals('positive', positive), ...signals('negative', negative)]))
  }

  test('the export has every entry of the timeline with the same figures, under any filter', async () => {
    const tenant = await service.tenant()
    const pull = { prNumber: 7, prUrl: 'https://example.com/7' }
    for (let i = 0; i < 5; i++) {
      const at = service.now - (9 - i) * hour
      await tenant.recordEntry({ createdAt: at, branchName: `b${i}` })
      if (i % 2 === 0) await tenant.recordEntry({ createdAt: at, action: 'pr_opened', ...pull })
      await vote(tenant, at, 50 - 10 * i, 5 + 10 * i)
    }
    const cutAt = new Date(service.now - 7 * hour).toISOString()
    for (const query of ['', 'action=deployed', `since=${cutAt}`, `until=${cutAt}`, `as_of=${cutAt}`]) {
      const { data } = (await get(tenant, `?limit=100&${query}`)).json()
      assert.ok(data.length > 0)
      assert.deepEqual(await exported(tenant, `?${query}`), data, query)
    }
    const [newest] = await exported(tenant, '?action=deployed')
    const [line] = await csv(tenant, '&action=deployed')
    const { entry, impact } = newest as TimelineEntryBody
    assert.deepEqual(line, {
      entry_id: String(entry.id),
      created_at: entry.created_at,
      action: 'deployed',
      author: 'Ada Lovelace',
      author_email: 'ada@example.com',
      ...{ actor: '', message: '', path: '', pr_number: '', pr_url: '' },
      commit_sha: entry.commit_sha,
      branch_name: 'b4',
      live_from: impact?.live_from,
      live_until: '',
      live_source: 'merge',
      ...{ before_positive: '20', before_negative: '35', before_rate: '0.363636' },
      ...{ after_positive: '10', after_negative: '45', after_rate: '0.181818' },
      difference: String(impact?.difference),
      interval_low: String(impact?.interval?.[0]),
      interval_high: String(impact?.interval?.[1]),
      effective_signals: String(impact?.effective_signals),
      verdict: impact?.verdict,
      explanation: impact?.explanation,
    })
    assert.equal(line?.difference?.[0], '-')
    const opened = (await csv(tenant, '&action=pr_opened'))[0]
    assert.deepEqual([opened?.pr_number, opened?.live_from, opened?.verdict], ['7', '', ''])
  })

  test('an export of more entries than one batch has each of them once, also if all have the same time', async () => {
    const tenant = await service.tenant()
    const entries = Array.from({ length: 345 }, (_, i) =>
      newHistoryEntry(entryAt(service.now - (i < 250 ? 0 : i) * 1_000, i)),
    )
    await service.store.history.import(tenant.prompt, inBatches(entries), service.now, operator)
    const ids = (await exported(tenant)).map(({ entry }) => entry.id)
    const history = await Promise.all(
      [1, 2, 3, 4].map(async (page) => (await tenant.history(`?limit=100&page=${page}`)).json().data),
    )
    assert.deepEqual(
      ids,
      history.flat().map(({ id }) => id),
    )
    assert.equal(ids.length, 345)
    assert.equal((await csv(tenant)).length, 345)
  })

  test('an export by outcome has the rows of the timeline, and reads the pull requests of many batches once', async (t) => {
    const tenant = await service.tenant()
    const steps = ['pr_opened', 'pr_merged', 'pr_opened', 'pr_closed'] as const
    const entries = Array.from({ length: 400 }, (_, i) =>
      newHistoryEntry({
        ...entryAt(service.now - 1_000 + i, i),
        ...{ action: steps[i % 4] ?? 'pr_opened', prNumber: 1 + (i % 7), prUrl: `https://example.com/${i % 7}` },
      }),
    )
    await service.store.history.import(tenant.prompt, inBatches(entries), service.now, operator)
    const rows: TimelineEntryBody[] = []
    for (let page = 1; page <= 4; page++) {
      rows.push(...(await get(tenant, `?pulls=outcome&limit=100&page=${page}`)).json().data)
    }
    const reads = t.mock.method(service.store.history, 'pullSpans')
    assert.deepEqual(await exported(tenant, '?pulls=outcome'), rows)
    assert.ok(rows.length > 200 && rows.length < 400)
    assert.equal(reads.mock.callCount(), 1)
  })

  test('no cell of the history is run as a formula by a spreadsheet, and none breaks out of its line', async () => {
    const tenant = await service.tenant()
    const hostile = ['=HYPERLINK("http://evil.example")', '+1', '-1', '@SUM(A1)', 'a",b', '"']
    for (const [i, text] of hostile.entries()) {
      const user = { name: text, email: `${text}@example.com` }
      await tenant.recordEntry({ createdAt: service.now - i * hour, user, branchName: `${text}-branch` })
    }
    const lines = await csv(tenant)
    assert.deepEqual(
      lines.map(({ author }) => author),
      hostile.map((text) => (/^[=+@-]/.test(text) ? `'${text}` : text)),
    )
    for (const line of lines)
      for (const name of ['author', 'branch_name', 'author_email']) {
        assert.doesNotMatch(line[name] as string, /^[=+\-@\t\r]/)
      }
  })

  test('an export of history is audited, and rejects invalid filters', async () => {
    const tenant = await service.tenant('free', 'admin')
    await exported(tenant)
    const url = '/api/v1/audit?action=history.exported'
    const [entry] = (await service.app.inject({ url, headers: tenant.headers })).json().data
    assert.deepEqual([entry.subject.id, entry.details], [tenant.prompt.publicId, { format: 'ndjson' }])
    for (const query of ['format=xls', 'since=yesterday', 'action=none', 'as_of=2999-01-01T00:00:00Z']) {
      assertError(await get(tenant, `/export?${query}`), 422, 'validation_error')
    }
  })
})

function entryAt(createdAt: number, i: number): Omit<HistoryEntry, 'id'> {
  return {
    action: 'deployed',
    user: { name: 'Ada', email: 'ada@example.com' },
    commitSha: i.toString(16).padStart(40, '0'),
    prNumber: null,
    prUrl: null,
    branchName: 'main',
    createdAt,
  }
}

function parseCsv(text: string): string[][] {
  return text
    .split('\r\n')
    .slice(0, -1)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    )
}
