import { operator } from '../../../server/src/domain/access/audit.ts'
import type { NewHistoryEntry } from '../../../server/src/domain/history/entry.ts'
import type { Tenant, TestService } from '../../../testing/service.ts'
import { dayMs, importSignals } from './changed-prompt.ts'

const yearMs = 360 * dayMs

/** A prompt with this many changes in the last year. One of them opened a regression. */
export async function createLongHistory(
  service: TestService,
  count: number,
): Promise<{ tenant: Tenant; regressionAt: number }> {
  const tenant = await service.tenant()
  const { store } = service
  const regressionAt = Math.floor(count * 0.6)
  const timeOf = (place: number) => Math.round(service.now - yearMs + (place * yearMs) / count)
  async function* entries(): AsyncGenerator<NewHistoryEntry[]> {
    for (let first = 0; first < count; first += 500) {
      yield Array.from({ length: Math.min(500, count - first) }, (_, i) => ({
        action: 'deployed' as const,
        user: { name: 'Ada', email: 'ada@example.com' },
        commitSha: (first + i + 1).toString(16).padStart(40, '0'),
        prNumber: null,
        prUrl: null,
        branchName: `change at ${first + i}`,
        createdAt: timeOf(first + i),
        dedupeKey: `change ${first + i}`,
      }))
    }
  }
  await store.history.import(tenant.prompt, entries(), service.now, operator)
  await importSignals(service, tenant.prompt, [359, 0.1], { positive: 8_000, negative: 2_000 })
  const commitSha = (regressionAt + 1).toString(16).padStart(40, '0')
  const { entries: found } = await store.history.timeline(
    tenant.prompt,
    {
      actions: null,
      since: timeOf(regressionAt),
      until: timeOf(regressionAt) + 1,
    },
    { page: '1', limit: 1 },
  )
  const figures = {
    rateBefore: 0.9,
    rateAfter: 0.8,
    difference: -0.1,
    interval: [-0.2, -0.05] as [number, number],
    explanation: 'Fewer votes are positive.',
    evidence: 4,
    signalsBefore: 400,
    signalsAfter: 300,
    liveFrom: timeOf(regressionAt),
  }
  await store.regressions.open(tenant.prompt, { id: found[0]?.id as number, commitSha }, figures, service.now)
  return { tenant, regressionAt }
}
