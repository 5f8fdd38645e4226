// A vote takes about a quarter of a millisecond.
const atOnce = 4

/**
 * Makes votes wait until others have arrived, so that they are verified one after the other and stored by few commits. Users do not
 * wait for a vote, but those of the API would: on SQLite each commit blocks the process, and on PostgreSQL signals that
 * arrive during one wait for it.
 *
 * Returns a function whose promise resolves for all calls of the same `collectingMs`, a few in each turn of the event loop:
 * other requests do not wait for all of them.
 */
export function createBatches(collectingMs: number): () => Promise<void> {
  let next: (() => void)[] = []

  function release(votes: (() => void)[]): void {
    for (const resolve of votes.splice(0, atOnce)) resolve()
    if (votes.length > 0) setImmediate(release, votes)
  }

  return () =>
    new Promise((resolve) => {
      if (next.push(resolve) > 1) return
      setTimeout(() => {
        const votes = next
        next = []
        release(votes)
      }, collectingMs)
    })
}
