import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'

export interface GitOptions {
  /** The mirror to work in; without one, git works in no repository. */
  mirror?: string
  /** Added to the environment: what must not be seen in a list of processes. */
  env?: Record<string, string>
  input?: string
  /** Milliseconds until it is ended. */
  timeout?: number
  /** The most bytes of output that are kept. */
  limit?: number
  signal?: AbortSignal
}

const minute = 60_000
const megabyte = 1024 * 1024

/** What git said when it failed; `stderr` is for people, with whatever an address could hold taken out. */
export class GitError extends Error {
  readonly stderr: string

  constructor(command: string, stderr: string) {
    super(`git ${command}: ${lastLine(stderr) || 'it failed without a word'}`)
    this.name = 'GitError'
    this.stderr = stderr
  }
}

// Whatever the machine or the user has configured must not change what we read, ask anybody anything or run anything.
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.quotePath=false',
  'credential.helper=',
  'core.askPass=',
  'gc.auto=0',
  'maintenance.auto=false',
  'fetch.writeCommitGraph=false',
  'log.showSignature=false',
  'protocol.ext.allow=never',
  'advice.detachedHead=false',
  // A server that has fallen silent is given up on: bytes a second, and for how many seconds.
  'http.lowSpeedLimit=100',
  'http.lowSpeedTime=60',
]

/** Runs git to its end and gives what it printed. Never through a shell. */
export async function git(args: string[], options: GitOptions = {}): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  const { limit = 64 * megabyte } = options
  for await (const chunk of gitOutput(args, options)) {
    size += chunk.length
    if (size > limit) throw new GitError(args[0] ?? '', `it printed more than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Runs git and gives what it prints as it comes, so that memory stays flat. Ends it where nobody reads on. */
export async function* gitOutput(args: string[], options: GitOptions = {}): AsyncGenerator<Buffer> {
  const command = args.find((argument) => /^[a-z]/.test(argument) && !argument.includes('=')) ?? ''
  const { mirror, env = {}, input, timeout = minute, signal } = options
  const place = mirror === undefined ? [] : [`--git-dir=${mirror}`]
  const child = spawn('git', [...place, ...settings.flatMap((setting) => ['-c', setting]), ...args], {
    env: { ...environment(), ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  running.add(child)
  gitRuns.started++
  giveWay(child)
  const end = () => endGroup(child)
  const timer = setTimeout(end, timeout)
  signal?.addEventListener('abort', end, { once: true })
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    if (stderr.length < 10_000) stderr += chunk
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  // It is awaited below; a failure to start must not count as unhandled before that.
  ended.catch(() => {})
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  let finished = false
  try {
    if (child.stdout !== null) for await (const chunk of child.stdout) yield chunk as Buffer
    const code = await ended.catch((error: NodeJS.ErrnoException) => {
      gitRuns.failed++
      throw new GitError(command, error.code === 'ENOENT' ? 'git is not installed' : error.message)
    })
    finished = true
    if (code !== 0) {
      gitRuns.failed++
      throw new GitError(command, child.signalCode === null ? stderr : 'it took too long')
    }
  } finally {
    clearTimeout(timer)
    running.delete(child)
    signal?.removeEventListener('abort', end)
    if (!finished) end()
  }
}

/** Since the process started. */
export const gitRuns = { started: 0, failed: 0 }

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach(endGroup))

/** Requests come first: git gets the time that they leave. */
function giveWay({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, 10)
  } catch {
    // It has ended by itself.
  }
}

/** Ends git with all that it started: its helpers would go on fetching, and keep us waiting for what they may yet say. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

// HOME is for the keys and known hosts of ssh; the others say how servers are reached from this machine.
const inherited = [
  'PATH',
  'HOME',
  'SSH_AUTH_SOCK',
  'https_proxy',
  'HTTPS_PROXY',
  'no_proxy',
  'NO_PROXY',
  'GIT_SSL_CAINFO',
  'SSL_CERT_FILE',
]

function environment(): NodeJS.ProcessEnv {
  const all = processEnvironment()
  return {
    ...Object.fromEntries(inherited.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]]))),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oConnectTimeout=10 -oServerAliveInterval=15 -oServerAliveCountMax=4',
  }
}

function processEnvironment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: git has to be found where the process finds it; no setting is read here.
  return process.env
}

function lastLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  const telling = lines.filter((line) => /^(fatal|error|remote):/.test(line))
  const line = telling[0] ?? lines.findLast((line) => line !== '') ?? ''
  // Servers write some of this themselves.
  return line.replaceAll(/\p{Cc}/gu, ' ').slice(0, 500)
}
