import type { Logger } from 'pino'
import type { Source, SourceCounts, SourceStore } from '../../domain/sources/source.ts'

/** Counts what arrives at sources. */
interface CountedEvents {
  add(source: Pick<Source, 'id' | 'organisationId'>, counts: SourceCounts): void
  /** Stores what has been counted since. */
  flush(): Promise<void>
}

interface Pending {
  source: Pick<Source, 'id' | 'organisationId'>
  counts: SourceCounts
}

const storeIntervalMs = 5_000

/**
 * Anyone who knows a URL can send requests to it, and a product may send many. Each source therefore costs at most one write in five
 * seconds. The first request is stored at once, so that a person who sets up a source sees it arrive.
 */
export function createCountedEvents(sources: Pick<SourceStore, 'count'>, log: Logger): CountedEvents {
  const pending = new Map<number, Pending>()
  const storedAt = new Map<number, number>()
  let timer: NodeJS.Timeout | null = null

  async function store({ source, counts }: Pending): Promise<void> {
    pending.delete(source.id)
    storedAt.set(source.id, performance.now())
    try {
      await sources.count(source, counts)
    } catch (error) {
      merge(source, counts)
      schedule()
      log.warn({ err: error, source: source.id }, 'could not store what arrived at a source')
    }
  }

  function merge(source: Pending['source'], counts: SourceCounts): void {
    const known = pending.get(source.id)?.counts
    pending.set(source.id, { source, counts: known === undefined ? counts : sumOf(known, counts) })
  }

  function isDue(id: number): boolean {
    return performance.now() - (storedAt.get(id) ?? Number.NEGATIVE_INFINITY) >= storeIntervalMs
  }

  async function storeDue(): Promise<void> {
    timer = null
    await Promise.all([...pending.values()].filter(({ source }) => isDue(source.id)).map(store))
    for (const id of storedAt.keys()) if (isDue(id) && !pending.has(id)) storedAt.delete(id)
    if (storedAt.size > 0) schedule()
  }

  function schedule(): void {
    timer ??= setTimeout(storeDue, storeIntervalMs).unref()
  }

  return {
    add({ id, organisationId }, counts) {
      merge({ id, organisationId }, counts)
      if (isDue(id)) void store(pending.get(id) as Pending)
      schedule()
    },
    async flush() {
      if (timer !== null) clearTimeout(timer)
      timer = null
      await Promise.all([...pending.values()].map(store))
    },
  }
}

function sumOf(a: SourceCounts, b: SourceCounts): SourceCounts {
  return {
    received: a.received + b.received,
    recorded: a.recorded + b.recorded,
    rejected: a.rejected + b.rejected,
    lastReceivedAt: b.lastReceivedAt ?? a.lastReceivedAt,
    lastRecordedAt: b.lastRecordedAt ?? a.lastRecordedAt,
    lastRejectedAt: b.lastRejectedAt ?? a.lastRejectedAt,
    lastRejection: b.lastRejection ?? a.lastRejection,
  }
}
