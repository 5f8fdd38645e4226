import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

const children = new Set<ChildProcess>()

// A test that failed half-way must not leave its service running.
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

/** A clean environment: what the tests' own process was given must not matter. */
function environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR, ...env }
}

/** Runs the real command to its end. */
export async function promptledger(env: NodeJS.ProcessEnv, args: string[], input?: string | Buffer): Promise<Finished> {
  const child = spawn(process.execPath, [main, ...args], { env: environment(env) })
  const output = collect(child)
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const [code] = await once(child, 'close')
  return { code, ...output() }
}

/** Runs the command with --json and gives what it printed. */
export async function promptledgerJson<T>(url: string, args: string[], input?: string | Buffer): Promise<T> {
  const { code, stdout, stderr } = await promptledger({ DATABASE_URL: url }, [...args, '--json'], input)
  if (code !== 0) throw new Error(`promptledger ${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

export interface RunningService {
  process: ChildProcess
  address: string
  output(): { stdout: string; stderr: string }
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts the real service and waits until it says where it listens. */
export function startServe(env: NodeJS.ProcessEnv, args: string[] = ['--port', '0']): Promise<RunningService> {
  return start(env, ['serve', ...args])
}

/** The same with made-up data. */
export function startDemo(env: NodeJS.ProcessEnv, args: string[] = []): Promise<RunningService> {
  return start(env, ['demo', '--port', '0', ...args])
}

async function start(env: NodeJS.ProcessEnv, args: string[]): Promise<RunningService> {
  const child = spawn(process.execPath, [main, ...args], { env: environment(env) })
  children.add(child)
  const output = collect(child)
  const exited = once(child, 'close')
  while (!/http:\S+/.test(output().stdout)) {
    await Promise.race([once(child.stdout, 'data'), exited])
    if (child.exitCode !== null) throw new Error(`the service did not start: ${output().stderr}`)
  }
  return {
    process: child,
    address: /http:[^\s"]+/.exec(output().stdout)?.[0] as string,
    output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      const [code] = await exited
      return code
    },
  }
}

/** What the first start of a service made, and calls with it. */
export function sampleOf({ address, output }: RunningService) {
  const [key] = /plk_\w+/.exec(output().stdout) as RegExpExecArray
  const [prompt] = /pmt_\w+/.exec(output().stdout) as RegExpExecArray
  const url = `${address}/api/v1/prompts/${prompt}`
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return {
    key,
    history: (query = '') => fetch(`${url}/history${query}`, { headers }),
    signal: (body = '{"value":"positive"}') => fetch(`${url}/signals`, { method: 'POST', headers, body }),
  }
}

function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  let [stdout, stderr] = ['', '']
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  return () => ({ stdout, stderr })
}
