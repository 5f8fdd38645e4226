import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { startPostgres } from '../testing/postgres.ts'
import { faults } from './all.ts'
import type { EngineName, Fault, Outcome } from './fault.ts'
import { tryFault } from './trial.ts'

const names = faults.map(({ name }) => name)

const usage = `Checks the guarantees of docs/reliability.md under failures, and prints a table. Exits with 1 if one does not hold.

npm run faults                         all faults in full, about 25 minutes
npm run faults -- --short              all faults as npm test runs them
npm run faults -- --only kills,model   some of ${names.join(', ')}
npm run faults -- --engine sqlite      on SQLite only, or on postgres only
npm run faults -- --times 1000         repeat each fault this often, in its own unit
npm run faults -- --seed 12345         repeat a run
`

// The exit handlers stop every process that was started.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

const { values: options } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    only: { type: 'string' },
    engine: { type: 'string' },
    times: { type: 'string' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
})
const seed = Number(options.seed)
const only = options.only?.split(',') ?? names
const unknown = only.find((name) => !names.includes(name))

if (options.help) process.stdout.write(usage)
else if (unknown !== undefined) {
  process.stderr.write(`Unknown fault ${unknown}: use one of ${names.join(', ')}.\n\n${usage}`)
  process.exitCode = 2
} else await main()

interface Result {
  fault: Fault
  engine: EngineName
  seconds: number
  /** Null if a guarantee did not hold. */
  outcome: Outcome | null
}

async function main(): Promise<void> {
  const postgres = process.env.TEST_DATABASE_URL === undefined ? await startPostgres() : null
  process.env.TEST_DATABASE_URL ??= postgres?.url
  process.stdout.write(`seed ${seed}\n`)
  const results: Result[] = []
  try {
    for (const fault of faults.filter(({ name }) => only.includes(name))) {
      for (const engine of fault.engines) {
        if (options.engine === undefined || options.engine === engine) results.push(await runOne(fault, engine))
      }
    }
  } finally {
    await postgres?.stop()
  }
  process.stdout.write(`\n${report(results)}\n`)
  // After a failed fault its senders are still running.
  process.exit(results.some(({ outcome }) => outcome === null) ? 1 : 0)
}

async function runOne(fault: Fault, engine: EngineName): Promise<Result> {
  const start = performance.now()
  const times = options.times === undefined ? fault.times[options.short ? 'short' : 'full'] : Number(options.times)
  process.stdout.write(`${fault.title}, ${engine} … `)
  const note = (line: string) => process.stdout.write(`\n${line}`)
  const outcome = await tryFault(fault, engine, times, seed, note).catch((error) => {
    process.stdout.write(
      `FAILED\n${(error as Error).stack}\n` +
        `Repeat: npm run faults -- --only ${fault.name} --engine ${engine} --times ${times} --seed ${seed}\n`,
    )
    return null
  })
  const seconds = Math.round((performance.now() - start) / 1_000)
  if (outcome !== null) process.stdout.write(`passed, ${seconds} s\n`)
  return { fault, engine, seconds, outcome }
}

function report(results: Result[]): string {
  const engineTitles = { sqlite: 'SQLite', postgres: 'PostgreSQL' }
  return [
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${process.arch}, Node ${process.version}, seed ${seed}`,
    '',
    '| fault | engine | tried | losses | observed | s |',
    '|---|---|---|---:|---|---:|',
    ...results.map(({ fault, engine, seconds, outcome }) => {
      const { tried, ...observations } = outcome ?? { tried: '' }
      const observed = Object.entries(observations).map(([name, value]) => describe(name, value))
      const losses = outcome === null ? 'FAILED' : '0'
      return `| ${fault.title} | ${engineTitles[engine]} | ${tried} | ${losses} | ${observed.join(', ')} | ${seconds} |`
    }),
  ].join('\n')
}

function describe(observation: string, value: string | number): string {
  const [name, unit] = observation.split(', ')
  return [name, typeof value === 'number' ? value.toLocaleString('en') : value, unit].filter(Boolean).join(' ')
}
