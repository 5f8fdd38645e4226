import { test } from 'node:test'
import { isCitus } from '../testing/engines.ts'
import { faults } from './all.ts'
import { tryFault } from './trial.ts'

const engineTitles = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

// The longest takes about a minute alone, and several on a busy machine.
const timeout = 600_000

// The short forms; npm run faults runs them in full.
for (const fault of faults) {
  // With npm run test:citus, every PostgreSQL database is distributed.
  for (const engine of isCitus ? fault.engines.filter((name) => name === 'postgres') : fault.engines) {
    test(`no signal is lost or counted twice with ${fault.title}, on ${engineTitles[engine]}`, {
      timeout,
    }, async (t) => {
      const seed = Math.floor(Math.random() * 2 ** 31)
      t.diagnostic(`seed ${seed}`)
      const { tried } = await tryFault(fault, engine, fault.times.short, seed, (line) => t.diagnostic(line))
      t.diagnostic(tried)
    })
  }
}
