import type { KeyStore } from '../../domain/access/api-key.ts'
import type { Instant } from '../../domain/time.ts'

export interface LastUsedTracker {
  record(keyId: number, at: Instant): void
  /** Writes the times recorded since the last flush. */
  flush(): Promise<void>
}

/** Buffers when each key was last used, so a request does not cost a write. */
export function createLastUsedTracker(keys: KeyStore): LastUsedTracker {
  let pending = new Map<number, Instant>()
  return {
    record(keyId, at) {
      pending.set(keyId, at)
    },
    async flush() {
      if (pending.size === 0) return
      const flushed = pending
      pending = new Map()
      try {
        await keys.recordUses([...flushed].map(([keyId, usedAt]) => ({ keyId, usedAt })))
      } catch (error) {
        // Retry with the next flush; newer times win.
        pending = new Map([...flushed, ...pending])
        throw error
      }
    },
  }
}
