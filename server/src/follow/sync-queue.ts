import type { DueRepository } from '../domain/repositories/lease.ts'

/** The repositories that wait for a sync, and the slots in which syncs run. */
export interface SyncQueue {
  /** A repository that already waits is not added twice. One that is being synced waits for its next sync. */
  add(repository: DueRepository): void
  /** Takes the next repository and occupies a slot. Null if none waits, or if its organisation has no free slot. */
  take(): DueRepository | null
  /** Frees the slot. */
  finish(repository: DueRepository): void
  isRunning(id: number): boolean
  clear(): void
}

/**
 * Organisations take turns, and one organisation never occupies more than half of the slots: otherwise an organisation with many
 * repositories, or with two slow git servers, would stop the syncs of all others.
 */
export function createSyncQueue(slots: number): SyncQueue {
  const slotsPerOrganisation = Math.max(1, Math.floor(slots / 2))
  // By organisation. A Map iterates in insertion order, so the organisation that was served last goes to the end.
  const waiting = new Map<number, Set<number>>()
  const running = new Map<number, number>()

  function runningOf(organisationId: number): number {
    return [...running.values()].filter((owner) => owner === organisationId).length
  }

  return {
    add({ id, organisationId }) {
      const ids = waiting.get(organisationId)
      if (ids === undefined) waiting.set(organisationId, new Set([id]))
      else ids.add(id)
    },
    take() {
      if (running.size >= slots) return null
      for (const [organisationId, ids] of waiting) {
        if (runningOf(organisationId) >= slotsPerOrganisation) continue
        const id = [...ids].find((each) => !running.has(each))
        if (id === undefined) continue
        ids.delete(id)
        waiting.delete(organisationId)
        if (ids.size > 0) waiting.set(organisationId, ids)
        running.set(id, organisationId)
        return { id, organisationId }
      }
      return null
    },
    finish({ id }) {
      running.delete(id)
    },
    isRunning: (id) => running.has(id),
    clear: () => waiting.clear(),
  }
}
