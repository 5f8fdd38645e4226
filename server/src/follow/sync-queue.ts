import type { DueRepository } from '../domain/repositories/lease.ts'
import { minute } from '../domain/time.ts'
import { createTurns, type Turn } from '../domain/turns.ts'

/** The repositories that wait for a sync, and the slots in which syncs run. */
export interface SyncQueue {
  /** A repository that already waits is not added twice. One that is being synced waits for its next sync. */
  add(repository: DueRepository): void
  /** Takes the next repository and occupies a slot. Null if none waits, or if its organisation has no free slot. */
  take(): DueRepository | null
  /** Frees the slot. */
  finish(repository: DueRepository): void
  isRunning(id: number): boolean
  /** The repositories whose syncs have to end early, because those that wait would wait too long. */
  inTheWay(): number[]
  clear(): void
}

// Most syncs take a second or two. One that fetches a large repository, or from a server that hangs, is slow.
const quickMs = 30_000
// Longer than the clone of the largest repository, and than a few commands of git that time out.
const maxMs = 30 * minute

/**
 * Organisations take turns, and one organisation never occupies more than half of the slots: otherwise an organisation with many
 * repositories, or with two slow git servers, would stop the syncs of all others. All organisations with slow syncs together do not
 * occupy more than half of the slots either, once they delay others.
 */
export function createSyncQueue(slots: number, now?: () => number): SyncQueue {
  const slotsPerOrganisation = Math.max(1, Math.floor(slots / 2))
  const turns = createTurns({ slots, slotsPerOrganisation, quickMs, maxMs, ...(now && { now }) })
  // By organisation. A Map iterates in insertion order, so the organisation that was served last goes to the end.
  const waiting = new Map<number, Set<number>>()
  const running = new Map<number, Turn>()

  /** The first repository of each organisation that is not being synced. */
  function next(): DueRepository[] {
    return [...waiting].flatMap(([organisationId, ids]) => {
      const id = [...ids].find((each) => !running.has(each))
      return id === undefined ? [] : [{ id, organisationId }]
    })
  }

  return {
    add({ id, organisationId }) {
      const ids = waiting.get(organisationId)
      if (ids === undefined) waiting.set(organisationId, new Set([id]))
      else ids.add(id)
    },
    take() {
      if (turns.running() >= slots) return null
      const taken = turns.order(next()).find(({ organisationId }) => turns.hasRoom(organisationId))
      if (taken === undefined) return null
      const { id, organisationId } = taken
      const ids = waiting.get(organisationId) as Set<number>
      ids.delete(id)
      waiting.delete(organisationId)
      if (ids.size > 0) waiting.set(organisationId, ids)
      running.set(id, turns.start(organisationId))
      return taken
    },
    finish({ id }) {
      const turn = running.get(id)
      if (turn !== undefined) turns.end(turn)
      running.delete(id)
    },
    isRunning: (id) => running.has(id),
    inTheWay() {
      const blocking = turns.inTheWayOf(next().map(({ organisationId }) => organisationId))
      return [...running].filter(([, turn]) => blocking.includes(turn)).map(([id]) => id)
    },
    clear: () => waiting.clear(),
  }
}
