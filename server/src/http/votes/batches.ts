/**
 * Makes votes wait until others have arrived, so that they are verified one after the other and stored by one commit. Users do not
 * wait for a vote, but those of the API would: on SQLite each commit blocks the process, and on PostgreSQL signals that
 * arrive during one wait for it.
 *
 * Returns a function whose promise resolves for all calls of the same `collectingMs` at once.
 */
export function createBatches(collectingMs: number): () => Promise<void> {
  let next: Promise<void> | null = null
  return () => {
    next ??= new Promise((resolve) => {
      setTimeout(() => {
        next = null
        resolve()
      }, collectingMs)
    })
    return next
  }
}
