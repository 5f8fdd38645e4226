import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { doctor } from '../server/src/doctor/doctor.ts'
import { type Engine, engines } from '../testing/engines.ts'
import { killAll } from '../testing/processes.ts'
import { randomFrom } from '../testing/simulation.ts'
import type { EngineName, Fault, Outcome } from './fault.ts'

const byName: Record<EngineName, Engine['name']> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

/** Tries a fault on a database and in a folder of its own, which are gone afterwards. */
export async function tryFault(fault: Fault, engine: EngineName, times: number, seed: number): Promise<Outcome> {
  const database = await (engines.find(({ name }) => name === byName[engine]) as Engine).create()
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-fault-'))
  try {
    const outcome = await fault.run({ engine, url: database.url, folder, times, random: randomFrom(seed) })
    await killAll()
    await checkCounts(database.url)
    return outcome
  } finally {
    await killAll()
    await database.remove()
    await rm(folder, { recursive: true, force: true })
  }
}

const counts = ['usage', 'hours', 'history', 'belonging']

/** Whatever happened, the counts of the database agree with each other. */
async function checkCounts(url: string): Promise<void> {
  const findings = await doctor({ ...process.env, DATABASE_URL: url })
  const wrong = findings.find(({ check, state }) => state !== 'ok' && counts.includes(check))
  if (wrong !== undefined) throw new Error(`${wrong.check}: ${wrong.found}`)
}
