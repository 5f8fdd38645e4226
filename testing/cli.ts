import { type ChildProcess, fork } from 'node:child_process'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { mainScript, type Output, processEnvironment, spawnNode } from './processes.ts'

export interface CliResult extends Output {
  code: number | null
}

/** A command for the host. */
export interface CliCall {
  args: string[]
  env: NodeJS.ProcessEnv
  /** What it reads, in base64. */
  input: string | undefined
}

/**
 * Flags for a heap of 44 MB, a quarter more than the program needs for itself. Young objects have little room of their own, because
 * what is left of it when the heap is full decides otherwise whether it overflows.
 */
export const smallHeap = ['--max-old-space-size=44', '--max-semi-space-size=1']

let host: ChildProcess | undefined
let isBusy = false

/**
 * Runs the CLI to its end: in a process that runs one command after the other, because starting one takes ten times as long as
 * most commands. Commands that run beside another have a process of their own.
 */
export async function runCli(env: NodeJS.ProcessEnv, args: string[], input?: string | Buffer): Promise<CliResult> {
  if (isBusy) return runCliProcess(env, args, input)
  isBusy = true
  try {
    host ??= startHost()
    return await callHost(host, {
      args,
      env: processEnvironment(env),
      input: input && Buffer.from(input).toString('base64'),
    })
  } finally {
    isBusy = false
  }
}

function startHost(): ChildProcess {
  const { NODE_COMPILE_CACHE } = process.env
  const script = fileURLToPath(new URL('cli-host.ts', import.meta.url))
  // Without the flags of the test runner, which this process has.
  const child = fork(script, { env: processEnvironment({ NODE_COMPILE_CACHE }), execArgv: [] })
  child.unref()
  child.channel?.unref()
  child.once('exit', () => {
    host = undefined
  })
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

function callHost(child: ChildProcess, call: CliCall): Promise<CliResult> {
  const { promise, resolve, reject } = Promise.withResolvers<CliResult>()
  const onExit = (code: number | null, signal: NodeJS.Signals | null) => {
    reject(new Error(`promptledger ${call.args.join(' ')} ended the process of its host with ${signal ?? code}`))
  }
  child.once('exit', onExit)
  child.once('message', (result: CliResult) => {
    child.off('exit', onExit)
    resolve(result)
  })
  child.send(call)
  return promise
}

/** Runs the CLI to its end, in a process of its own. */
export async function runCliProcess(
  env: NodeJS.ProcessEnv,
  args: string[],
  input?: string | Buffer,
): Promise<CliResult> {
  const { child, output, exited } = spawnNode([mainScript, ...args], { env })
  child.stdin?.end(input)
  return { code: await exited, ...output }
}

/** Runs the CLI with --json and returns the value it printed. */
export async function runCliJson<T>(url: string, args: string[], input?: string | Buffer): Promise<T> {
  return parsedOutput(args, await runCli({ DATABASE_URL: url }, [...args, '--json'], input))
}

function parsedOutput<T>(args: string[], { code, stdout, stderr }: CliResult): T {
  if (code !== 0) throw new Error(`promptledger ${args.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

export interface MeasuredRun<T> {
  value: T
  /** From the start of the process to its end. */
  seconds: number
  /** Peak memory in megabytes of the process itself, without the git processes it starts. */
  peak: number
}

const printPeak = 'data:text/javascript,process.on("exit",()=>console.error("peak",process.resourceUsage().maxRSS))'

/** The same, with the time and memory it took. */
export async function measureCli<T>(env: NodeJS.ProcessEnv, args: string[]): Promise<MeasuredRun<T>> {
  const startedAt = performance.now()
  const { child, output, exited } = spawnNode(['--import', printPeak, mainScript, ...args, '--json'], { env })
  child.stdin?.end()
  const value = parsedOutput<T>(args, { code: await exited, ...output })
  const seconds = (performance.now() - startedAt) / 1_000
  return { value, seconds, peak: Number(/peak (\d+)/.exec(output.stderr)?.[1]) / 1_024 }
}

/** Runs `promptledger import` on lines that are generated while it reads them. */
export async function importLines(
  databaseUrl: string,
  args: string[],
  lines: Iterable<string>,
  nodeFlags: string[] = [],
): Promise<void> {
  const env = { DATABASE_URL: databaseUrl }
  const { child, output, exited } = spawnNode([...nodeFlags, mainScript, 'import', ...args, '--json'], { env })
  await pipeline(Readable.from(joined(lines)), child.stdin as NodeJS.WritableStream)
  const code = await exited
  if (code !== 0) throw new Error(`promptledger import ended with ${code}: ${output.stderr}`)
}

/** Many lines per chunk: one write per line would be slower than the import. */
function* joined(lines: Iterable<string>): Generator<string> {
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
