import { overloaded } from '../errors.ts'

// One read starts up to five git processes, one after the other or two at once.
const limitsOfTexts = { reads: 4, readsPerOrganisation: 2 }
// A blame, and a search in texts, take longer than a text. They have slots of their own, so that they do not delay texts.
export const limitsOfLongReads = { reads: 2, readsPerOrganisation: 1 }
const maxWaiting = 100
const maxWaitingPerOrganisation = 50

interface Waiting {
  organisationId: number
  start: () => void
}

/** Runs a few reads of git at a time. Organisations take turns, and a request that finds the queue full is rejected. */
export function createReadPool({ reads, readsPerOrganisation } = limitsOfTexts) {
  const running = new Map<number, number>()
  const waiting: Waiting[] = []
  let count = 0

  const canStart = (organisationId: number) =>
    count < reads && (running.get(organisationId) ?? 0) < readsPerOrganisation

  function started(organisationId: number, change: 1 | -1): void {
    count += change
    const left = (running.get(organisationId) ?? 0) + change
    if (left === 0) running.delete(organisationId)
    else running.set(organisationId, left)
  }

  async function turn(organisationId: number): Promise<void> {
    if (canStart(organisationId)) return started(organisationId, 1)
    const own = waiting.filter((each) => each.organisationId === organisationId).length
    if (waiting.length >= maxWaiting || own >= maxWaitingPerOrganisation) throw overloaded
    // The slot is counted by the read that ends, so that no other request can take it in between.
    await new Promise<void>((start) => waiting.push({ organisationId, start }))
  }

  function startNext(): void {
    // The organisation with the fewest reads comes first, then the one that waits longest.
    const next = waiting
      .filter(({ organisationId }) => canStart(organisationId))
      .sort((a, b) => (running.get(a.organisationId) ?? 0) - (running.get(b.organisationId) ?? 0))[0]
    if (next === undefined) return
    waiting.splice(waiting.indexOf(next), 1)
    started(next.organisationId, 1)
    next.start()
  }

  return {
    async run<T>(organisationId: number, read: () => Promise<T>): Promise<T> {
      await turn(organisationId)
      try {
        return await read()
      } finally {
        started(organisationId, -1)
        startNext()
      }
    },
  }
}
