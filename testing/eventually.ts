import { setTimeout as pause } from 'node:timers/promises'

const patience = 10_000
const step = 20

/** Waits until the check holds. Where it does not, what it said last is why. */
export async function eventually(check: () => Promise<void> | void): Promise<void> {
  const end = Date.now() + patience
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() > end) throw error
    }
    await pause(step)
  }
}
