import type { SignalValue } from '../../domain/signals/signal.ts'
import type { VersionText } from '../../domain/signals/version.ts'
import { hourStart, type Instant } from '../../domain/time.ts'

/** What to add to the sums of one hour: all signals of a prompt, or those with a version. */
export interface SumChange {
  organisationId: number
  promptId: number
  version: VersionText | null
  hour: Instant
  positive: number
  negative: number
}

/** The changes of a batch to hourly sums. Each sum is written once, however many signals it counts. */
interface SumChanges {
  /** `count` is 1 to add a signal, -1 to remove one. */
  change(
    prompt: { organisationId: number; promptId: number },
    value: SignalValue,
    version: VersionText | null,
    at: Instant,
    count: 1 | -1,
  ): void
  /** Without those that are 0 after all. */
  all(): SumChange[]
}

export function createSumChanges(): SumChanges {
  const sums = new Map<string, SumChange>()

  function sumOf(organisationId: number, promptId: number, version: VersionText | null, hour: Instant): SumChange {
    // A version is never empty, so the two kinds of keys differ.
    const key = version === null ? `${promptId} ${hour}` : `${promptId} ${hour} ${version}`
    let sum = sums.get(key)
    if (sum === undefined) {
      sum = { organisationId, promptId, version, hour, positive: 0, negative: 0 }
      sums.set(key, sum)
    }
    return sum
  }

  return {
    change({ organisationId, promptId }, value, version, at, count) {
      const hour = hourStart(at)
      sumOf(organisationId, promptId, null, hour)[value] += count
      if (version !== null) sumOf(organisationId, promptId, version, hour)[value] += count
    },
    all: () => [...sums.values()].filter(({ positive, negative }) => positive !== 0 || negative !== 0),
  }
}

const keys = {
  signal_hours: 'organisation_id, prompt_id, hour',
  version_hours: 'organisation_id, prompt_id, version, hour',
}

/**
 * Adds rows to hourly sums. They have the columns of the key, then `positive` and `negative`, each key once, and the order of the
 * key: batches that lock the same rows in different orders would end in a deadlock.
 */
export function addToSums(table: keyof typeof keys, rows: string): string {
  return `insert into ${table} as sums (${keys[table]}, positive, negative)
  ${rows}
  on conflict (${keys[table]}) do update
    set positive = sums.positive + excluded.positive, negative = sums.negative + excluded.negative`
}
