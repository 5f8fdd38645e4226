import { setTimeout as pause } from 'node:timers/promises'
import type { Attack } from './attack.ts'

const startIntervalMs = 200
const maxMs = 2_000

/** Attacks that run at once, each starting a little after the one before. */
export function combined(name: string, attacks: Attack[]): Attack {
  return {
    name: `combined: ${name}`,
    isLoad: true,
    maxMs,
    async prepare(site) {
      const prepared: (() => Promise<string>)[] = []
      for (const { prepare } of attacks) prepared.push(await prepare(site))
      return async () => {
        const results = await Promise.all(
          prepared.map(async (run, i) => {
            await pause(i * startIntervalMs)
            return run()
          }),
        )
        return results.join('; ')
      }
    },
  }
}
