import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'

/**
 * Returns a function that resolves for one caller per turn of the event loop, and not before `restMs` have passed. So large pieces of work
 * do not add up to a long one.
 */
export function createTurnstile(): (restMs?: number) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return (restMs = 0) => {
    last = last.then(() => (restMs < 1 ? nextTurn() : pause(restMs)))
    return last
  }
}
