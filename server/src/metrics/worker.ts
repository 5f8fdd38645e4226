import type { DeliveryState } from '../domain/repositories/delivery.ts'
import type { Store } from '../domain/store.ts'
import { createHistogram } from './histogram.ts'
import { by, counter, type Family, gauge, histogram, type Sample } from './text-format.ts'

/** What the worker process counts. The service adds it to its own metrics on every scrape. */
interface WorkerMetrics {
  /** Returns a store that counts what happens to repositories through it. */
  instrument(store: Store): Store
  families(): Family[]
}

export function createWorkerMetrics(gitRuns: { started: number; failed: number }): WorkerMetrics {
  const repositories = createRepositoryMetrics()
  return {
    instrument: repositories.instrument,
    families() {
      const { user, system } = process.cpuUsage()
      return [
        ...repositories.families(),
        counter('promptledger_git_runs_total', 'Git processes started.', [{ value: gitRuns.started }]),
        counter('promptledger_git_failures_total', 'Git processes that failed.', [{ value: gitRuns.failed }]),
        gauge('promptledger_worker_resident_memory_bytes', 'Resident memory of the worker process. 0: not started.', [
          { value: process.memoryUsage.rss() },
        ]),
        counter('promptledger_worker_cpu_seconds_total', 'CPU time of the worker process, without git.', [
          { value: (user + system) / 1_000_000 },
        ]),
      ]
    },
  }
}

/** The same families before any worker process has started: everything is 0. */
export function emptyWorkerFamilies(): Family[] {
  return createWorkerMetrics({ started: 0, failed: 0 }).families().map(zeroed)
}

/** What an ended worker process has counted: its memory is gone, its counts stay, so that no counter ever goes down. */
export function endedWorkerFamilies(families: Family[]): Family[] {
  return families.map((family) => (family.type === 'gauge' ? zeroed(family) : family))
}

function zeroed(family: Family): Family {
  return { ...family, samples: family.samples.map((sample) => ({ ...sample, value: 0 })) }
}

/** Adds the samples of equal name and labels. Both sides have the same families. */
export function addFamilies(some: Family[], others: Family[]): Family[] {
  const values = new Map<string, number>()
  for (const { name, samples } of others) for (const sample of samples) values.set(keyOf(name, sample), sample.value)
  return some.map((family) => ({
    ...family,
    samples: family.samples.map((sample) => ({
      ...sample,
      value: sample.value + (values.get(keyOf(family.name, sample)) ?? 0),
    })),
  }))
}

function keyOf(name: string, { suffix, labels }: Sample): string {
  return JSON.stringify([name, suffix, labels])
}

const bounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800]

function createRepositoryMetrics(): WorkerMetrics {
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
        by('state', attempts),
      ),
      histogram(
        'promptledger_sync_duration_seconds',
        'Duration of one sync of a repository, by result.',
        Object.entries(syncs).flatMap(([result, seconds]) => seconds.samples({ result })),
      ),
    ],
  }
}
