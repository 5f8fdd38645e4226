import { test } from 'node:test'
import { isCitus } from '../../testing/engines.ts'
import type { EngineName, Fault } from '../fault.ts'
import { tryFault } from '../trial.ts'

const engineTitles = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

// The longest takes about a minute alone, and several on a busy machine.
const timeout = 600_000

/** Fixed, so that a run repeats. `npm run faults` draws a new one. */
const seed = 1

/** Declares the short form of a fault as a test. `npm run faults` runs it in full, on each of its engines. */
export function testFault(fault: Fault, ...engines: EngineName[]): void {
  // With npm run test:citus, every PostgreSQL database is distributed.
  for (const engine of isCitus ? fault.engines.filter((name) => name === 'postgres') : engines) {
    const title = `no signal is lost or counted twice with ${fault.title}, on ${engineTitles[engine]}`
    test(title, { timeout }, async (t) => {
      const { tried } = await tryFault(fault, engine, fault.times.short, seed, (line) => t.diagnostic(line))
      t.diagnostic(tried)
    })
  }
}
