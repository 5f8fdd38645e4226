import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { allocator } from '../server/src/service/allocator.ts'
import { onTestEnd } from './cleanup.ts'

export const mainScript =
  process.env.TEST_MAIN_SCRIPT ?? fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
/** Only a process that hangs takes this long: a demo is ready after 6 s, and after more than a minute on a busy machine. */
const startTimeoutMs = 240_000
const stopTimeoutMs = 60_000
/**
 * The service stops within 10 s of its own time: server/test/project/containers.test.ts. On a busy machine, the signal, the exit and
 * the test that waits for it take longer. A service that missed its deadline would go on for a minute, or exit with 1.
 */
export const stopLimitMs = 15_000

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export interface Output {
  stdout: string
  stderr: string
}

interface SpawnedProcess {
  child: ChildProcess
  output: Output
  /** Resolves to the exit status, or to null after a signal, once all output is read. */
  exited: Promise<number | null>
}

interface SpawnOptions {
  env: NodeJS.ProcessEnv
  /** Where the process's log goes: into `output`, straight to this process's stderr, or to a file descriptor. */
  log?: 'output' | 'stderr' | number
}

/** Starts node with these arguments. The process is killed with the test, or with this process. */
export function spawnNode(args: string[], { env, log = 'output' }: SpawnOptions): SpawnedProcess {
  const child = spawn(process.execPath, args, {
    env: processEnvironment(env),
    stdio: ['pipe', 'pipe', log === 'output' ? 'pipe' : log === 'stderr' ? 'inherit' : log],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  onTestEnd(() => killProcess(child))
  const output: Output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text) => {
      output[name] += text
    })
  }
  // A process that ends early closes its input; its exit status says why.
  child.stdin?.on('error', () => {})
  return { child, output, exited: once(child, 'close').then(([code]) => code) }
}

/** A clean environment: the settings of the developer's shell must not change a result. */
export function processEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR, ...allocator, ...env }
}

async function killProcess(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Kills a process that was started with `detached`, and all that it started. */
export function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid as number), 'SIGKILL')
  } catch {
    // All of its processes have ended.
  }
}

/** Kills every process that is still running, for use after a failure. */
export async function killAll(): Promise<void> {
  await Promise.all([...running].map(killProcess))
}

export interface RunningProcess {
  process: ChildProcess
  address: string
  port: number
  /** From the start of the process until it printed its address. */
  startupMs: number
  output(): Output
  /** Sends SIGTERM, or this signal, and resolves to the exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
}

/** Starts a script that prints its address once it listens, and waits for that. */
export async function startProcess(
  script: string,
  args: string[],
  options: SpawnOptions = { env: {} },
): Promise<RunningProcess> {
  const startedAt = performance.now()
  const { child, output, exited } = spawnNode([script, ...args], options)
  const timeout = AbortSignal.timeout(startTimeoutMs)
  const addressIn = () => /http:[^\s"]+(?=[\s"])/.exec(output.stdout)?.[0]
  while (addressIn() === undefined && running.has(child)) {
    const data = once(child.stdout as Readable, 'data', { signal: timeout })
    await Promise.race([data, exited]).catch(() => killProcess(child))
  }
  const address = addressIn()
  if (address === undefined) {
    await killProcess(child)
    await exited
    throw new Error(`${[script, ...args].join(' ')} did not start: ${output.stderr}`)
  }
  return {
    process: child,
    address,
    port: Number(new URL(address).port),
    startupMs: performance.now() - startedAt,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      const code = await exited
      clearTimeout(timer)
      return code
    },
    kill: () => killProcess(child),
  }
}

/** Starts the service and waits until it prints its address. */
export function startServe(env: NodeJS.ProcessEnv, args: string[] = ['--port', '0']): Promise<RunningProcess> {
  return startProcess(mainScript, ['serve', ...args], { env })
}

/** Starts the service with generated data. */
export function startDemo(env: NodeJS.ProcessEnv, args: string[] = []): Promise<RunningProcess> {
  return startProcess(mainScript, ['demo', '--port', '0', ...args], { env })
}

/** Starts the service for bench and faults: without first-run data, its errors on this process's stderr. */
export function serve(
  databaseUrl: string,
  env: NodeJS.ProcessEnv = {},
  port = 0,
  script = mainScript,
): Promise<RunningProcess> {
  return startProcess(script, ['serve', '--port', String(port), '--json'], {
    env: { DATABASE_URL: databaseUrl, PROMPTLEDGER_FIRST_RUN: 'off', LOG_LEVEL: 'error', ...env },
    log: 'stderr',
  })
}

/** The key and prompt that the first start of a service created, and requests with them. */
export function sampleClient({ address, output }: RunningProcess) {
  const [key] = /plk_\w+/.exec(output().stdout) as RegExpExecArray
  const [prompt] = /pmt_\w+/.exec(output().stdout) as RegExpExecArray
  const url = `${address}/api/v1/prompts/${prompt}`
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return {
    key,
    history: (query = '') => fetch(`${url}/history${query}`, { headers }),
    timeline: () => fetch(`${url}/timeline`, { headers }),
    signal: (body = '{"value":"positive"}') => fetch(`${url}/signals`, { method: 'POST', headers, body }),
  }
}

/** Current and peak resident memory in megabytes. */
export function memoryOf({ process: child }: RunningProcess): { resident: number; peak: number } {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  const megabytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024
  return { resident: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}

// The unit of /proc/<pid>/stat on Linux.
const ticksPerSecond = 100

/** Processor time that the process has used so far. */
export function processorSeconds({ process: { pid } }: { process: Pick<ChildProcess, 'pid'> }): number {
  const fields = statOf(String(pid))
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Processor time of the thread that runs JavaScript, without those that compile and collect garbage. In steps of nanoseconds. */
export function threadSeconds({ process: { pid } }: RunningProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e9
}

/** Processor time that the process and its children have used so far, with those that have ended. */
export function treeSeconds(pid: number): number {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const ticks = all.map((name) => {
    const fields = statOf(name)
    const isMember = name === String(pid) || fields[1] === String(pid)
    return isMember ? fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) : 0
  })
  return ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond
}

/** The fields of /proc/<pid>/stat from the state on. None if the process has ended. */
function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  } catch {
    return []
  }
}
