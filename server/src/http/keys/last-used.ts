import type { KeyStore } from '../../domain/access/api-key.ts'
import type { Instant } from '../../domain/time.ts'

export interface KeyUses {
  note(keyId: number, at: Instant): void
  /** Stores what was noted since the last time. */
  flush(): Promise<void>
}

/** Remembers when keys were last used, so that it costs one write now and then instead of one per request. */
export function keyUses(keys: KeyStore): KeyUses {
  let uses = new Map<number, Instant>()
  return {
    note(keyId, at) {
      uses.set(keyId, at)
    },
    async flush() {
      if (uses.size === 0) return
      const noted = uses
      uses = new Map()
      try {
        await keys.recordUses([...noted].map(([keyId, usedAt]) => ({ keyId, usedAt })))
      } catch (error) {
        // For the next time, unless there is something newer by now.
        uses = new Map([...noted, ...uses])
        throw error
      }
    },
  }
}
