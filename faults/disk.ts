import { execFile } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createAccount } from '../testing/account.ts'
import { eventually } from '../testing/eventually.ts'
import { killAll, mainScript, type RunningProcess, serve } from '../testing/processes.ts'
import type { Fault } from './fault.ts'
import { reconcile } from './reconcile.ts'
import { type Senders, startSenders } from './senders.ts'

const run = promisify(execFile)
// The outcome has the slowest recovery. Tests share the machine with others.
const recoveryTimeoutMs = 30_000

interface DiskFailure {
  name: string
  /** How long writes still wait for the failure to end before they fail. */
  writeTimeoutMs: number
  begin(): Promise<unknown>
  end(): Promise<unknown>
}

/** The disk is full, every write fails, or another process locks the file, again and again; at last the file is read-only. */
export const disk: Fault = {
  name: 'disk',
  title: 'a full disk, a read-only file and a locked database',
  engines: ['sqlite'],
  times: { full: 5, short: 1 },
  async run({ folder, times, random }) {
    const mountPoint = join(folder, 'disk')
    await mkdir(mountPoint)
    const mounted = await mountSmallDisk(mountPoint)
    const file = join(mountPoint, 'promptledger.db')
    const url = `sqlite:${file}`
    try {
      const accounts = [await createAccount(url, 'business'), await createAccount(url, 'free')]
      const service = await serve(url, { LOG_LEVEL: 'silent' })
      const senders = startSenders(() => service.port, accounts, 16)
      const failures = [...(mounted ? [fullDisk(mountPoint, file)] : []), failingWrites(service), lockedFile(file)]
      let slowest = 0
      for (let time = 0; time < times; time++) {
        for (const failure of failures) slowest = Math.max(slowest, await survive(failure, service, senders, random))
      }
      await senders.stop()
      const totals = await reconcile(service.port, accounts, senders)
      const storedDespite500 = totals['unknown but stored']
      if (storedDespite500 > 0) throw new Error(`${storedDespite500} signals were answered with 500 and are stored`)
      await service.stop()
      checkIntegrity(file)
      await checkReadOnlyStart(file)
      const restarted = await serve(url, { LOG_LEVEL: 'silent' })
      await reconcile(restarted.port, accounts, senders)
      await restarted.stop()
      const names = failures.map(({ name }) => name).join(', ')
      const skipped = mounted ? '' : '; full disk NOT tried, which requires the privilege to mount one'
      return {
        tried: `${times} × ${names}; start on a read-only file${skipped}`,
        ...totals,
        'slowest recovery, ms': Math.round(slowest),
      }
    } finally {
      await killAll()
      if (mounted) await run('umount', [mountPoint])
    }
  },
}

/** Mounts a disk of 48 MB. False without the privilege to mount. */
async function mountSmallDisk(mountPoint: string): Promise<boolean> {
  return run('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'promptledger', mountPoint]).then(
    () => true,
    () => false,
  )
}

function fullDisk(mountPoint: string, file: string): DiskFailure {
  const filler = join(mountPoint, 'filler')
  return {
    name: 'disk full',
    writeTimeoutMs: 0,
    async begin() {
      // Otherwise SQLite would still have room in the part of the log that it overwrites.
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

/** Every write to any file fails, as on a file system that has become read-only. */
function failingWrites({ process: { pid } }: RunningProcess): DiskFailure {
  const limit = (size: string) => run('prlimit', ['--pid', String(pid), `--fsize=${size}:`])
  return { name: 'writes failing', writeTimeoutMs: 0, begin: () => limit('0'), end: () => limit('unlimited') }
}

function lockedFile(file: string): DiskFailure {
  let holder: DatabaseSync
  return {
    name: 'locked by another process',
    writeTimeoutMs: 5_000,
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

/** Returns the milliseconds until signals are recorded again. */
async function survive(
  { name, writeTimeoutMs, begin, end }: DiskFailure,
  { address }: RunningProcess,
  senders: Senders,
  random: () => number,
): Promise<number> {
  await pause(100 + random() * 300)
  await begin()
  await pause(writeTimeoutMs + 200 + random() * 300)
  const before = senders.stored()
  await pause(100)
  const [health, readiness] = await Promise.all([fetch(`${address}/healthz`), fetch(`${address}/readyz`)])
  if (health.status !== 200) throw new Error(`${name}: /healthz responds with ${health.status}`)
  if (readiness.status !== 503) throw new Error(`${name}: /readyz responds with ${readiness.status}`)
  if (senders.stored() > before) throw new Error(`${name}: signals are answered with 201`)
  await end()
  const start = performance.now()
  await eventually(() => senders.stored() > before, { timeoutMs: recoveryTimeoutMs, intervalMs: 10 })
  return performance.now() - start
}

function checkIntegrity(file: string): void {
  const database = new DatabaseSync(file)
  const [row] = database.prepare('pragma integrity_check').all()
  database.close()
  if (row?.integrity_check !== 'ok') throw new Error(`the database is damaged: ${JSON.stringify(row)}`)
}

/** On a read-only file the service exits with the reason, and leaves nothing behind that would block the next start. */
async function checkReadOnlyStart(file: string): Promise<void> {
  // Root may write to a read-only file unless it drops its capabilities.
  const asUser = process.getuid?.() === 0 ? ['setpriv', '--inh-caps=-all', '--bounding-set=-all', '--'] : []
  const [command = '', ...args] = [...asUser, process.execPath, mainScript, 'serve', '--port', '0']
  await chmod(file, 0o444)
  const env = { ...process.env, DATABASE_URL: `sqlite:${file}` }
  const { code, stderr } = await run(command, args, { env, timeout: 60_000 }).then(
    () => ({ code: 0, stderr: '' }),
    (error) => error as { code: number; stderr: string },
  )
  if (code !== 1 || !stderr.includes(`${file} is read-only`)) {
    throw new Error(`on a read-only file the service ended with ${code}: ${stderr}`)
  }
  await chmod(file, 0o644)
}
