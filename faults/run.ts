import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { startPostgres } from '../testing/postgres.ts'
import { faults } from './all.ts'
import type { EngineName, Fault, Outcome } from './fault.ts'
import { tryFault } from './trial.ts'

const usage = `Tries everything that must not break the promises, and ends with a table of it. Whatever is lost ends it with status 1.

npm run faults                        all of it, in some 16 minutes
npm run faults -- --short             a little of each, as in npm test
npm run faults -- --only kills,year   one or some of ${faults.map(({ name }) => name).join(', ')}
npm run faults -- --engine sqlite     on one engine
npm run faults -- --times 1000        so often, in what the fault counts
npm run faults -- --seed 12345        the same again
`

// Whatever was started goes with us.
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
const chosen = options.only?.split(',')
const unknown = chosen?.find((name) => !faults.some((fault) => fault.name === name))

if (options.help) process.stdout.write(usage)
else if (unknown !== undefined) {
  process.stderr.write(`There is no fault ${unknown}.\n\n${usage}`)
  process.exitCode = 2
} else await main()

interface Tried {
  fault: Fault
  engine: EngineName
  seconds: number
  outcome: Outcome | null
}

async function main(): Promise<void> {
  const postgres = process.env.TEST_DATABASE_URL === undefined ? await startPostgres() : null
  process.env.TEST_DATABASE_URL ??= postgres?.url
  process.stdout.write(`seed ${seed}\n`)
  const tried: Tried[] = []
  try {
    for (const fault of faults.filter(({ name }) => chosen === undefined || chosen.includes(name))) {
      for (const engine of fault.engines) {
        if (options.engine === undefined || options.engine === engine) tried.push(await tryOne(fault, engine))
      }
    }
  } finally {
    await postgres?.stop()
  }
  process.stdout.write(`\n${report(tried)}\n`)
  // Voters of a fault that broke are still at it.
  process.exit(tried.some(({ outcome }) => outcome === null) ? 1 : 0)
}

async function tryOne(fault: Fault, engine: EngineName): Promise<Tried> {
  const start = performance.now()
  const times = options.times === undefined ? fault.times[options.short ? 'short' : 'full'] : Number(options.times)
  process.stdout.write(`${fault.title}, ${engine} … `)
  const outcome = await tryFault(fault, engine, times, seed).catch((error) => {
    process.stdout.write(`BROKEN\n${(error as Error).stack}\n`)
    process.stdout.write(
      `Again: npm run faults -- --only ${fault.name} --engine ${engine} --times ${times} --seed ${seed}\n`,
    )
    return null
  })
  const seconds = Math.round((performance.now() - start) / 1_000)
  if (outcome !== null) process.stdout.write(`held, ${seconds} s\n`)
  return { fault, engine, seconds, outcome }
}

function report(tried: Tried[]): string {
  const engineTitle = { sqlite: 'SQLite', postgres: 'PostgreSQL' }
  return [
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${process.arch}, Node ${process.version}, seed ${seed}`,
    '',
    '| fault | on | tried | losses | seen | s |',
    '|---|---|---|---:|---|---:|',
    ...tried.map(({ fault, engine, seconds, outcome }) => {
      const { tried: what, ...figures } = outcome ?? { tried: '' }
      const seen = Object.entries(figures).map(([name, figure]) => describe(name, figure))
      const losses = outcome === null ? 'BROKEN' : '0'
      return `| ${fault.title} | ${engineTitle[engine]} | ${what} | ${losses} | ${seen.join(', ')} | ${seconds} |`
    }),
  ].join('\n')
}

/** A figure's name ends with its unit, where it has one. */
function describe(name: string, figure: string | number): string {
  const [what, unit] = name.split(', ')
  return [what, typeof figure === 'number' ? figure.toLocaleString('en') : figure, unit].filter(Boolean).join(' ')
}
