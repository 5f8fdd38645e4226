import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
// As in the Dockerfile: see docs/operating.md.
const flags = ['--max-semi-space-size=16']

export interface Running {
  process: ChildProcess
  port: number
  /** Milliseconds from the start of the process until it said that it listens. */
  startedIn: number
}

const started = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of started) child.kill('SIGKILL')
})

/** Starts a program that prints its address as JSON once it listens. */
export async function start(script: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Running> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...flags, script, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.add(child)
  child.once('exit', () => started.delete(child))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const { address } = JSON.parse(line.toString())
  return { process: child, port: Number(new URL(address).port), startedIn: performance.now() - startedAt }
}

export function serve(databaseUrl: string, env: NodeJS.ProcessEnv = {}): Promise<Running> {
  return start(main, ['serve', '--port', '0', '--json'], {
    DATABASE_URL: databaseUrl,
    PROMPTLEDGER_FIRST_RUN: 'off',
    LOG_LEVEL: 'error',
    ...env,
  })
}

export async function stop({ process: child }: Running): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** Ends it at once, as a crash does. */
export async function kill({ process: child }: Pick<Running, 'process'>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Kills whatever was started and still runs, because what started it failed in between. */
export async function killAll(): Promise<void> {
  await Promise.all([...started].map((child) => kill({ process: child })))
}

/** Resident memory in megabytes. */
export function residentMemory({ process: child }: Running): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

/** Runs the promptledger command and gives the JSON value that it prints. */
export async function promptledger<T>(databaseUrl: string, ...args: string[]): Promise<T> {
  return (await measuredCommand<T>({ DATABASE_URL: databaseUrl }, args)).value
}

export interface Measured<T> {
  value: T
  seconds: number
  /** The most memory that the process had at any time, in megabytes. */
  peak: number
}

// The process itself, without the gits that it starts.
const tellPeak = 'data:text/javascript,process.on("exit",()=>console.error("peak",process.resourceUsage().maxRSS))'

/** The same with what it took, from the start of the process to its end. */
export async function measuredCommand<T>(env: NodeJS.ProcessEnv, args: string[]): Promise<Measured<T>> {
  const startedAt = performance.now()
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', tellPeak, main, ...args, '--json'],
    { env: { ...process.env, ...env } },
  )
  const seconds = (performance.now() - startedAt) / 1_000
  return { value: JSON.parse(stdout), seconds, peak: Number(/peak (\d+)/.exec(stderr)?.[1]) / 1_024 }
}

export async function importLines(databaseUrl: string, args: string[], lines: Iterable<string>): Promise<void> {
  const child = spawn(process.execPath, [main, 'import', ...args, '--json'], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit')
  await pipeline(Readable.from(chunks(lines)), child.stdin)
  const [code] = await exited
  if (code !== 0) throw new Error(`import ended with ${code}`)
}

function* chunks(lines: Iterable<string>): Generator<string> {
  let chunk = ''
  for (const line of lines) {
    chunk += `${line}\n`
    if (chunk.length > 65_536) {
      yield chunk
      chunk = ''
    }
  }
  yield chunk
}
