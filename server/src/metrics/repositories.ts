import type { DeliveryState } from '../domain/repositories/delivery.ts'
import type { Store } from '../domain/store.ts'
import { createHistogram } from './histogram.ts'
import { counter, type Family } from './text-format.ts'

export interface RepositoryMetrics {
  /** Returns a store that counts what happens to repositories through it. */
  instrument(store: Store): Store
  families(): Family[]
}

const bounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800]

export function createRepositoryMetrics(): RepositoryMetrics {
  const attempts: Record<DeliveryState, number> = { pending: 0, done: 0, ignored: 0, failed: 0 }
  const syncs = { ok: createHistogram(bounds), failed: createHistogram(bounds) }
  const startedAt = new Map<string, number>()
  return {
    instrument: (store) => ({
      ...store,
      facts: {
        ...store.facts,
        async apply(lease, facts) {
          const applied = await store.facts.apply(lease, facts)
          for (const { state } of facts.deliveries ?? []) attempts[state]++
          return applied
        },
      },
      repositories: {
        ...store.repositories,
        async lease(id, owner, now, until) {
          const lease = await store.repositories.lease(id, owner, now, until)
          if (lease !== null) startedAt.set(owner, performance.now())
          return lease
        },
        async release(lease, outcome) {
          const start = startedAt.get(lease.owner)
          startedAt.delete(lease.owner)
          const result = outcome.error === null ? 'ok' : 'failed'
          if (start !== undefined) syncs[result].observe((performance.now() - start) / 1_000)
          return store.repositories.release(lease, outcome)
        },
      },
    }),
    families: () => [
      counter(
        'promptledger_delivery_attempts_total',
        'Attempts to process a delivery, by its state afterwards. pending: to be retried.',
        Object.entries(attempts).map(([state, value]) => ({ labels: { state }, value })),
      ),
      {
        name: 'promptledger_sync_duration_seconds',
        type: 'histogram',
        help: 'Duration of one sync of a repository, by result.',
        samples: Object.entries(syncs).flatMap(([result, seconds]) => seconds.samples({ result })),
      },
    ],
  }
}
