import { test } from 'node:test'
import { faults } from './all.ts'
import { tryFault } from './trial.ts'

const engines = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

// In short; `npm run faults` does the same in full.
for (const fault of faults) {
  for (const engine of fault.engines) {
    test(`Nothing is lost: ${fault.title}, on ${engines[engine]}`, async (t) => {
      const seed = Math.floor(Math.random() * 2 ** 31)
      t.diagnostic(`seed ${seed}`)
      const { tried } = await tryFault(fault, engine, fault.times.short, seed)
      t.diagnostic(tried)
    })
  }
}
