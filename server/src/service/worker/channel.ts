import { fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../config.ts'
import { UnavailableError } from '../../domain/errors.ts'
import type { DueRepository } from '../../domain/repositories/lease.ts'
import { workerEntry } from '../../files.ts'
import { allocator } from '../allocator.ts'
import { type CallName, fromPlainError, type Request, type Response, type WorkerCalls } from './messages.ts'

/** A running worker process, and the messages to it. */
export interface Channel {
  wake(repository: DueRepository): void
  /** Rejects if the process ends before it responds. */
  call<Name extends CallName>(name: Name, ...parameters: Parameters<WorkerCalls[Name]>): ReturnType<WorkerCalls[Name]>
  /** Ends the process: it exits as soon as its channel closes. */
  close(): Promise<void>
}

// Memory before speed: otherwise the process, idle most of the time, keeps the garbage of its largest sync, some 30 MB.
const nodeFlags = ['--max-semi-space-size=2', '--heap-growing-percent=25']
const exitTimeoutMs = 1_000

/** People who connect a repository, and clients that start a trial, can repeat it in a moment. */
export const workerEnded = new UnavailableError('The process that reads git restarts. Retry in a few seconds.')

interface Call {
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}

/** Starts a worker process. `onEnd` receives the reason when it has ended, however it ends. */
export function openChannel(config: Config, onEnd: (reason: string) => void): Channel {
  const child = fork(workerEntry, {
    execArgv: nodeFlags,
    // For git, too.
    // biome-ignore lint/style/noProcessEnv: passed on as a whole; config.ts reads it in the worker.
    env: { ...process.env, ...allocator },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const calls = new Map<number, Call>()
  let lastId = 0
  // Sent together once the previous message is written: a process that is busy for long must not make ours queue messages.
  let woken = new Map<number, DueRepository>()
  let isWaking = false

  const ended = new Promise<void>((resolve) => {
    const end = (reason: string) => {
      for (const { reject } of calls.values()) reject(workerEnded)
      calls.clear()
      resolve()
      onEnd(reason)
    }
    child.once('exit', (code, signal) => end(signal ?? `exit code ${code}`))
    // Without a pid, it could not even be started, and there is no exit.
    child.on('error', (error) => child.pid === undefined && end(error.message))
  })

  child.on('message', (response: Response) => {
    const call = calls.get(response.id)
    calls.delete(response.id)
    if ('error' in response) call?.reject(fromPlainError(response.error))
    else call?.resolve(response.value)
  })

  function send(request: Request, onSent: () => void = () => {}): void {
    // If the process has ended, the callback receives the error, and `ended` takes care of the rest.
    child.send(request, onSent)
  }

  function sendWoken(): void {
    if (isWaking || woken.size === 0) return
    isWaking = true
    send({ type: 'wake', repositories: [...woken.values()] }, () => {
      isWaking = false
      sendWoken()
    })
    woken = new Map()
  }

  send({ type: 'start', config: { ...config } })
  return {
    wake({ id, organisationId }) {
      woken.set(id, { id, organisationId })
      sendWoken()
    },
    call: ((name, ...parameters) =>
      new Promise((resolve, reject) => {
        const id = ++lastId
        calls.set(id, { resolve: resolve as Call['resolve'], reject })
        send({ type: 'call', id, name, parameters })
      })) as Channel['call'],
    async close() {
      if (child.connected) child.disconnect()
      await Promise.race([ended, pause(exitTimeoutMs)])
      child.kill('SIGKILL')
      await ended
    },
  }
}
