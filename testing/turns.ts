import type { TestContext } from 'node:test'

/** Returns how many turns the event loop has had. On a busy machine they say more than a time. */
export function turnCounter(t: TestContext): () => number {
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  t.after(() => clearImmediate(next))
  return () => turns
}
