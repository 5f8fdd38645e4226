import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { doctor } from '../server/src/doctor/doctor.ts'
import { postgres, sqlite } from '../testing/engines.ts'
import { killAll } from '../testing/processes.ts'
import { seededRandom } from '../testing/random.ts'
import type { EngineName, Fault, Outcome } from './fault.ts'

/** Runs a fault on a new database and in a new folder, which are deleted afterwards. */
export async function tryFault(
  fault: Fault,
  engine: EngineName,
  times: number,
  seed: number,
  note: (line: string) => void,
): Promise<Outcome> {
  const database = await { sqlite, postgres }[engine].create()
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-fault-'))
  try {
    const outcome = await fault.run({ engine, url: database.url, folder, times, random: seededRandom(seed), note })
    await killAll()
    await checkCounts(database.url)
    return outcome
  } finally {
    await killAll()
    await database.remove()
    await rm(folder, { recursive: true, force: true })
  }
}

const countChecks = ['usage', 'hours', 'history', 'ownership']

/** Throws if the counters, hourly sums and positions in the database do not match its rows, as the doctor compares them. */
export async function checkCounts(url: string): Promise<void> {
  const findings = await doctor({ ...process.env, DATABASE_URL: url })
  const failed = findings.find(({ check, status }) => status !== 'ok' && countChecks.includes(check))
  if (failed !== undefined) throw new Error(`doctor: ${failed.check}: ${failed.message}`)
}
