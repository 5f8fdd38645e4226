import { execFile } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createAccount } from '../testing/account.ts'
import { killAll, type RunningProcess, serve } from '../testing/processes.ts'
import type { Fault } from './fault.ts'
import { tallyUp } from './tally.ts'
import { pause, startVoting, type Votes } from './voters.ts'

const run = promisify(execFile)
const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
const patience = 5_000

interface Trouble {
  name: string
  /** Milliseconds until whoever writes is refused. */
  after: number
  begin(): Promise<void>
  end(): Promise<void>
}

/** The disk is full, refuses every write, or the file is in another's hands, again and again; at last it may only be read. */
export const disk: Fault = {
  name: 'disk',
  title: 'disk full, file read-only, database locked',
  engines: ['sqlite'],
  times: { full: 5, short: 1 },
  async run({ folder, times, random }) {
    const place = join(folder, 'disk')
    await mkdir(place)
    const mounted = await mount(place)
    const file = join(place, 'promptledger.db')
    const url = `sqlite:${file}`
    try {
      const accounts = [await createAccount(url, 'business'), await createAccount(url, 'free')]
      let service = await serve(url, { LOG_LEVEL: 'silent' })
      const votes = startVoting(() => service.port, accounts, 16)
      const all = [...(mounted ? [full(place, file)] : []), unwritable(service), locked(file)]
      let slowest = 0
      for (let time = 0; time < times; time++) {
        for (const trouble of all) slowest = Math.max(slowest, await survive(trouble, service, votes, random))
      }
      await votes.stop()
      const tally = await tallyUp(service.port, accounts, votes)
      // Whoever was refused was told the truth.
      if (tally.found > 0) throw new Error(`${tally.found} votes were answered with 500 and are stored`)
      await service.stop()
      checkIntegrity(file)
      await checkReadOnly(file)
      service = await serve(url, { LOG_LEVEL: 'silent' })
      await tallyUp(service.port, accounts, votes)
      await service.stop()
      return {
        tried: `${times} × ${all.map(({ name }) => name).join(', ')}; started on a read-only file${mounted ? '' : '; a full disk NOT tried, which needs the right to mount one'}`,
        ...tally,
        'slowest recovery, ms': Math.round(slowest),
      }
    } finally {
      await killAll()
      if (mounted) await run('umount', [place])
    }
  },
}

/** A small disk of its own, where that is permitted. */
async function mount(place: string): Promise<boolean> {
  return run('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'promptledger', place]).then(
    () => true,
    () => false,
  )
}

function full(place: string, file: string): Trouble {
  const filler = join(place, 'filler')
  return {
    name: 'disk full',
    after: 0,
    async begin() {
      // Or there would be room in the log that SQLite has written before and begins again.
      const database = new DatabaseSync(file, { timeout: 5_000 })
      database.exec('pragma wal_checkpoint(truncate)')
      database.close()
      for (const size of [1 << 20, 1 << 12]) {
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(size))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        }
      }
    },
    end: () => rm(filler),
  }
}

/** Every write to any file fails, as on a file system that has turned read-only. */
function unwritable({ process: { pid } }: RunningProcess): Trouble {
  const limit = (size: string) => run('prlimit', ['--pid', String(pid), `--fsize=${size}:`])
  return {
    name: 'writes failing',
    after: 0,
    async begin() {
      await limit('0')
    },
    async end() {
      await limit('unlimited')
    },
  }
}

function locked(file: string): Trouble {
  let holder: DatabaseSync
  return {
    name: 'locked by another process',
    // Whoever is waiting already goes on doing so; new ones are refused from then on.
    after: 5_000,
    async begin() {
      holder = new DatabaseSync(file, { timeout: 5_000 })
      holder.exec('begin immediate')
    },
    async end() {
      holder.exec('rollback')
      holder.close()
    },
  }
}

/** Gives the milliseconds that it took to record again afterwards. */
async function survive(
  trouble: Trouble,
  { port }: RunningProcess,
  votes: Votes,
  random: () => number,
): Promise<number> {
  await pause(100 + random() * 300)
  await trouble.begin()
  await pause(trouble.after + 200 + random() * 300)
  const before = stored(votes)
  await pause(100)
  const address = `http://127.0.0.1:${port}`
  const [health, ready] = await Promise.all([fetch(`${address}/healthz`), fetch(`${address}/readyz`)])
  if (health.status !== 200) throw new Error(`${trouble.name}: health was answered with ${health.status}`)
  if (ready.status !== 503) throw new Error(`${trouble.name}: ready with ${ready.status}`)
  if (stored(votes) > before) throw new Error(`${trouble.name}: votes were answered with 201 all the same`)
  await trouble.end()
  const start = performance.now()
  while (stored(votes) === before) {
    if (performance.now() - start > patience) throw new Error(`${trouble.name}: nothing recorded ${patience} ms after`)
    await pause(10)
  }
  return performance.now() - start
}

function stored({ fates }: Votes): number {
  return [...fates.values()].filter((fate) => fate === 'stored').length
}

function checkIntegrity(file: string): void {
  const database = new DatabaseSync(file)
  const [row] = database.prepare('pragma integrity_check').all()
  database.close()
  if (row?.integrity_check !== 'ok') throw new Error(`the database is damaged: ${JSON.stringify(row)}`)
}

/** A service that may only read the file does not start, says why, and leaves nothing behind that keeps the next from starting. */
async function checkReadOnly(file: string): Promise<void> {
  // Root may write everything, unless it gives up that right.
  const [command = '', ...args] = [
    ...(process.getuid?.() === 0 ? ['setpriv', '--inh-caps=-all', '--bounding-set=-all', '--'] : []),
    process.execPath,
    main,
    'serve',
    '--port',
    '0',
  ]
  await chmod(file, 0o444)
  const env = { ...process.env, DATABASE_URL: `sqlite:${file}` }
  const { code, stderr } = await run(command, args, { env, timeout: 20_000 }).then(
    () => ({ code: 0, stderr: '' }),
    (error) => error as { code: number; stderr: string },
  )
  if (code !== 1 || !stderr.includes(`${file} is read-only`))
    throw new Error(`read-only: ended with ${code}: ${stderr}`)
  await chmod(file, 0o644)
}
