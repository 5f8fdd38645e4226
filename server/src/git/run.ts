import { AsyncLocalStorage } from 'node:async_hooks'
import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { adviceOf, failureOf, type GitFailure, reasonOf } from './failure.ts'
import { memoryOf } from './memory.ts'
import { packBytes } from './object-bytes.ts'
import { machineSshCommand } from './ssh.ts'

interface GitOptions {
  /** The repository to run in; git runs in none without it. */
  mirror?: string
  /** The repository in a folder that it fetches from: git also does the server's part, and needs the memory for it. */
  folder?: string | null
  /** Added to the environment. Use it for secrets, because arguments appear in the process list. */
  env?: Record<string, string>
  /** As a generator, it can depend on what git has printed so far. */
  input?: string | AsyncIterable<string>
  /** How long git may run. Time that the consumer takes between two chunks of output does not count. */
  timeoutMs?: number
  /** Git keeps all refs of the remote in memory, 200 to 330 bytes for each, and may use twice the limit for them. */
  listsRefs?: boolean
  /** Fails if git prints more than this. */
  maxBytes?: number
  signal?: AbortSignal
}

const defaultTimeoutMs = 60_000
const megabyte = 1024 * 1024
// Between two checks, git can take 1 MB more for each millisecond.
const memoryCheckIntervalMs = 20
// Git needs about 100 bytes for each object of a pack, and the objects of large repositories have 300 bytes on average.
const packBytesPerMemoryByte = 3
let memoryLimitBytes = 96 * megabyte

/** Sets how much memory one git command may use, with its child processes, in a small repository. */
export function limitGitMemory(bytes: number): void {
  memoryLimitBytes = bytes
}

/** Grows with what the repository really contains, so that only changes that are huge when read exceed it. */
function memoryLimit({ mirror, folder = null, listsRefs = false }: GitOptions): number {
  // Enough for 500,000 refs.
  if (listsRefs) return memoryLimitBytes * 2
  const repositories = [mirror ?? [], folder === null ? [] : [folder, join(folder, '.git')]].flat()
  const bytes = repositories.reduce((total, repository) => total + packBytes(repository), 0)
  return memoryLimitBytes + bytes / packBytesPerMemoryByte
}

// Servers decide how many refs they have, so only one list at a time may use more than other commands.
let largeList: ChildProcess | null = null

/**
 * A failed git command. Tenants see the message, so `reason` is always our own text. `gitOutput` is one line of what git
 * printed, which the server may control: it is for the log.
 */
export class GitError extends Error {
  readonly reason: string
  readonly failure: GitFailure
  readonly gitOutput: string
  /** Null if git did not end by itself. */
  readonly exitCode: number | null

  constructor(
    command: string,
    reason: string,
    failure: GitFailure = 'other',
    stderr = '',
    advice: string | null = null,
    exitCode: number | null = null,
  ) {
    super(`git ${command}: ${reason}${advice === null ? '' : `. ${advice}`}`)
    this.name = 'GitError'
    this.reason = reason
    this.failure = failure
    this.gitOutput = errorLine(stderr)
    this.exitCode = exitCode
  }
}

/** Git exceeded a limit of ours. A retry would exceed it again, so callers record the fact as too large. */
export class GitLimitError extends GitError {}

/** The work that ran git had to end early, which says nothing about the repository. So it is no `GitError`. */
export class InterruptedError extends Error {}

const interruption = new AsyncLocalStorage<AbortSignal>()

/** Runs work that the signal interrupts: it kills the git commands of the work, and no other is started. */
export function interruptible<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return interruption.run(signal, work)
}

/** The result, or that of `otherwise` if git exceeds a limit. */
export async function withinLimit<T>(result: Promise<T>, otherwise: () => T | Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    if (error instanceof GitLimitError) return otherwise()
    throw error
  }
}

// The machine's and the user's configuration must not change results, prompt for input or run programs.
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.quotePath=false',
  // A third of the memory limit. The default, 96 MB, would leave nothing for everything else.
  'core.deltaBaseCacheLimit=32m',
  // By default, git maps all of its packs into memory, and what it reads of them counts as used.
  'core.packedGitWindowSize=32m',
  'core.packedGitLimit=128m',
  'credential.helper=',
  'core.askPass=',
  'gc.auto=0',
  'maintenance.auto=false',
  'fetch.writeCommitGraph=false',
  'log.showSignature=false',
  'protocol.ext.allow=never',
  'advice.detachedHead=false',
  // Give up on a stalled server: fewer than 100 bytes per second for 60 s.
  'http.lowSpeedLimit=100',
  'http.lowSpeedTime=60',
]

/** Runs git, without a shell, and resolves with its output. */
export async function git(args: string[], options: GitOptions = {}): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  const { maxBytes = 64 * megabyte } = options
  for await (const chunk of gitOutput(args, options)) {
    size += chunk.length
    if (size > maxBytes) throw new GitLimitError(args[0] ?? '', `printed more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Runs git and streams its output, so that memory stays flat. Kills git if the consumer stops reading. */
export async function* gitOutput(args: string[], options: GitOptions = {}): AsyncGenerator<Buffer> {
  const command = args.find((argument) => /^[a-z]/.test(argument) && !argument.includes('=')) ?? ''
  const { mirror, env = {}, input, timeoutMs = defaultTimeoutMs } = options
  const interrupted = interruption.getStore()
  const failIfInterrupted = () => {
    if (interrupted?.aborted) throw new InterruptedError(`git ${command} was interrupted`)
  }
  failIfInterrupted()
  const signals = [options.signal, interrupted].filter((signal) => signal !== undefined)
  const gitDir = mirror === undefined ? [] : [`--git-dir=${mirror}`]
  const child = spawn('git', [...gitDir, ...settings.flatMap((setting) => ['-c', setting]), ...args], {
    env: { ...environment(), ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  running.add(child)
  gitRuns.started++
  lowerPriority(child)
  const kill = () => killProcessGroup(child)
  const deadline = startDeadline(timeoutMs, kill)
  let [usedTooMuchMemory, isLargeList] = [false, false]
  // A tree that names itself a thousand times takes a few bytes on disk and gigabytes in a list of paths.
  const memoryCheck = setInterval(() => {
    const used = child.pid === undefined ? 0 : memoryOf(child.pid)
    if (used <= memoryLimitBytes) return
    isLargeList = options.listsRefs === true
    if (isLargeList) largeList ??= child
    usedTooMuchMemory = used > memoryLimit(options)
    if (usedTooMuchMemory || (isLargeList && largeList !== child)) kill()
  }, memoryCheckIntervalMs)
  for (const signal of signals) signal.addEventListener('abort', kill, { once: true })
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    if (stderr.length < 10_000) stderr += chunk
  })
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  // Awaited below. Until then, a failure to start must not count as an unhandled rejection.
  exited.catch(() => {})
  child.stdin?.on('error', () => {})
  if (typeof input !== 'object') child.stdin?.end(input)
  // Fails if git ends before it has read everything, as the exit code tells.
  else if (child.stdin !== null) pipeline(input, child.stdin).catch(() => {})
  let finished = false
  try {
    for await (const chunk of child.stdout ?? []) {
      deadline.pause()
      yield chunk as Buffer
      deadline.resume()
    }
    const code = await exited.catch((error: NodeJS.ErrnoException) => {
      gitRuns.failed++
      throw new GitError(command, error.code === 'ENOENT' ? 'git is not installed' : error.message)
    })
    finished = true
    if (code !== 0) {
      gitRuns.failed++
      failIfInterrupted()
      if (usedTooMuchMemory) {
        const limit = `${Math.floor(memoryLimit(options) / megabyte)} MB`
        throw new GitLimitError(command, `needs more than ${limit} of memory (GIT_MEMORY_LIMIT)`)
      }
      if (deadline.isOver()) throw new GitLimitError(command, 'timed out', 'connection')
      if (isLargeList && largeList !== child)
        throw new GitError(command, 'had to wait for another large list of refs: retry in a few minutes', 'connection')
      if (child.signalCode !== null) throw new GitError(command, 'timed out', 'connection')
      const failure = failureOf(stderr)
      throw new GitError(command, reasonOf(failure), failure, stderr, adviceOf(failure), code)
    }
  } finally {
    deadline.pause()
    clearInterval(memoryCheck)
    running.delete(child)
    if (largeList === child) largeList = null
    for (const signal of signals) signal.removeEventListener('abort', kill)
    if (!finished) kill()
  }
}

/** Calls `onEnd` after this long, not counting pauses. */
function startDeadline(timeoutMs: number, onEnd: () => void) {
  let leftMs = timeoutMs
  let resumedAt = 0
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const resume = () => {
    resumedAt = performance.now()
    timer = setTimeout(() => {
      isOver = true
      onEnd()
    }, leftMs)
  }
  resume()
  return {
    resume,
    pause() {
      clearTimeout(timer)
      leftMs -= performance.now() - resumedAt
    },
    isOver: () => isOver,
  }
}

/** Counters since the process started. */
export const gitRuns = { started: 0, failed: 0 }

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach(killProcessGroup))

/** Keeps git from slowing down requests. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, 10)
  } catch {
    // It has already exited.
  }
}

/** Kills git and its helpers. A surviving helper would keep fetching and hold the output pipe open. */
function killProcessGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has already exited.
  }
}

/** The refs of merges whose parents our mirror has in another order than the remote. */
export const mainlineRefs = 'refs/mainline/'

/** As environment: shows the commits as the remote has them. */
export const originalParents = { GIT_NO_REPLACE_OBJECTS: '1' }

// HOME holds ssh's keys and known hosts. The others control how this machine reaches servers.
const inheritedVariables = [
  'PATH',
  'HOME',
  'SSH_AUTH_SOCK',
  'http_proxy',
  'https_proxy',
  'HTTPS_PROXY',
  'no_proxy',
  'NO_PROXY',
  'GIT_SSL_CAINFO',
  'SSL_CERT_FILE',
]

function environment(): NodeJS.ProcessEnv {
  const variables = processEnvironment()
  return {
    ...Object.fromEntries(
      inheritedVariables.flatMap((name) => (variables[name] === undefined ? [] : [[name, variables[name]]])),
    ),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    // Only replacements that we wrote (`mainline.ts`) apply. Nothing is fetched to these refs.
    GIT_REPLACE_REF_BASE: mainlineRefs,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_SSH_COMMAND: machineSshCommand(),
  }
}

function processEnvironment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: passed on to git; no setting is read here.
  return process.env
}

function errorLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  const errors = lines.filter((line) => /^(fatal|error|remote):/.test(line))
  const line = errors[0] ?? lines.findLast((line) => line !== '') ?? ''
  // The server can control parts of this text.
  return line.replaceAll(/\p{Cc}/gu, ' ').slice(0, 500)
}
