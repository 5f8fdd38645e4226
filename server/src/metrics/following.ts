import type { DeliveryState } from '../domain/repositories/delivery.ts'
import type { Store } from '../domain/store.ts'
import { histogram } from './histogram.ts'
import type { Family } from './text.ts'

export interface FollowingMetrics {
  /** The same store, with what is done to repositories through it counted. */
  watched(store: Store): Store
  families(): Family[]
}

const bounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800]

export function followingMetrics(): FollowingMetrics {
  const deliveries: Record<DeliveryState, number> = { pending: 0, done: 0, ignored: 0, failed: 0 }
  const syncs = { ok: histogram(bounds), failed: histogram(bounds) }
  const startedAt = new Map<string, number>()
  return {
    watched: (store) => ({
      ...store,
      facts: {
        ...store.facts,
        async apply(lease, facts) {
          const applied = await store.facts.apply(lease, facts)
          for (const { state } of facts.deliveries ?? []) deliveries[state]++
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
      {
        name: 'promptledger_deliveries_worked_total',
        type: 'counter',
        help: 'Attempts at deliveries by the state that they left them in. pending: to be tried again.',
        samples: Object.entries(deliveries).map(([state, value]) => ({ labels: { state }, value })),
      },
      {
        name: 'promptledger_sync_duration_seconds',
        type: 'histogram',
        help: 'Time that one piece of work on a repository took.',
        samples: Object.entries(syncs).flatMap(([result, seconds]) => seconds.samples({ result })),
      },
    ],
  }
}
